// Finds the tool call that a streamed fragment belongs to. OpenAI identifies fragments by `index`; compatible servers omit
// it, send 0 for every call, or repeat the id on every fragment.

import { JsonPrefix } from "../../../chat/repair.ts";

/** The state of one call. */
export interface GrowingCall {
  /** Unique and increasing from 0 within its choice: clients identify calls by it. */
  index: number;
  upstreamIndex: number | undefined;
  id: string;
  name: string;
  /** All argument text received. */
  text: string;
  json: JsonPrefix;
}

/** Maximum parallel calls in one answer; bounds the memory that a runaway upstream can use. */
const CALLS_MAX = 512;

/** The calls of one choice. */
export class CallTable {
  readonly calls: GrowingCall[] = [];

  /** The call of a fragment, created if it is new; undefined if there are too many or it is ambiguous. */
  find(fragment: { index?: unknown; id?: unknown; name?: unknown }): { call: GrowingCall; isNew: boolean } | undefined {
    const id = typeof fragment.id === "string" && fragment.id !== "" ? fragment.id : undefined;
    const index = typeof fragment.index === "number" ? fragment.index : undefined;
    const named = typeof fragment.name === "string" && fragment.name !== "";
    const known = this.#known(id, index, named);
    if (known !== undefined) return { call: known, isNew: false };
    if (this.calls.length >= CALLS_MAX || (id === undefined && index === undefined && !named)) return undefined;
    const call: GrowingCall = {
      index: this.calls.length,
      upstreamIndex: index,
      id: id ?? "",
      name: "",
      text: "",
      json: new JsonPrefix(),
    };
    this.calls.push(call);
    return { call, isNew: true };
  }

  #known(id: string | undefined, index: number | undefined, named: boolean): GrowingCall | undefined {
    const byId = id === undefined ? undefined : this.calls.findLast((call) => call.id === id);
    if (byId !== undefined) return byId;
    const last = index === undefined ? this.calls.at(-1) : this.calls.findLast((call) => call.upstreamIndex === index);
    if (last === undefined) return undefined;
    // Same index, another id: a server that sends index 0 for every call.
    if (id !== undefined && last.id !== "") return undefined;
    // Neither index nor id: a name after complete arguments starts another call.
    if (index === undefined && id === undefined && named && last.name !== "" && last.json.complete) return undefined;
    return last;
  }
}

/** The argument text of a fragment: objects are serialised, null is empty. */
export function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
