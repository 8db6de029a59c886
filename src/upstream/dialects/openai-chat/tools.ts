// Finds the tool call to which a streamed fragment belongs. OpenAI identifies fragments by `index`, but compatible servers omit
// it, send 0 for every call, or repeat the id in every fragment.

import { JsonPrefix } from "../../../base/json-repair.ts";

/** The state of one call. */
export interface GrowingCall {
  /** Unique within its choice and increasing from 0, as clients identify calls by it. */
  index: number;
  upstreamIndex: number | undefined;
  id: string;
  name: string;
  /** All text of the arguments that was received. */
  text: string;
  json: JsonPrefix;
}

/** Maximum number of parallel calls in one answer, which limits the memory that a runaway upstream can use. */
const CALLS_MAX = 512;

/** The calls of one choice. */
export class CallTable {
  readonly calls: GrowingCall[] = [];

  /**
   * The call of a fragment, which is created if it is new; undefined if there are too many calls, or the fragment is ambiguous.
   */
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
    // The same index with another id: the server sends index 0 for every call.
    if (id !== undefined && last.id !== "") return undefined;
    // Without index and id, a name after complete arguments starts another call.
    if (index === undefined && id === undefined && named && last.name !== "" && last.json.complete) return undefined;
    return last;
  }
}

/** The argument text of a fragment. Objects are serialised; null is empty. */
export function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
