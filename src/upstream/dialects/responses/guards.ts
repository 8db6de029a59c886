// The argument JSON of the calls of one relayed Responses answer: watched as it streams, repaired at its end, and the
// same repaired text wherever the protocol repeats it (arguments.done, output_item.done, the final response).

import { ArgumentGuard } from "../../../chat/argument-guard.ts";
import { isJson, repairJson } from "../../../chat/repair.ts";
import { asList, asNumber, asRecord, asText, type Loose } from "../loose.ts";

interface Guarded {
  itemId: string | undefined;
  index: number | undefined;
  guard: ArgumentGuard;
  fed: string;
}

/** More calls than this in one answer are passed unwatched; bounds memory. */
const CALLS_MAX = 512;

/** The calls of one answer. */
export class CallGuards {
  readonly #calls: Guarded[] = [];
  /** Broken argument text to its repaired form. */
  readonly #repaired = new Map<string, string>();

  /** A call begins. */
  open(event: Loose, item: Loose): void {
    if (this.#calls.length >= CALLS_MAX) return;
    const itemId = asText(item["id"]) || undefined;
    this.#calls.push({ itemId, index: asNumber(event["output_index"]), guard: new ArgumentGuard(), fed: "" });
  }

  /** Takes a delta event; true when its frame may pass to the client. */
  push(event: Loose): boolean {
    const call = this.#find(event);
    const delta = asText(event["delta"]);
    if (call === undefined || delta === undefined) return true;
    call.fed += delta;
    return call.guard.push(delta);
  }

  /**
   * Takes an `arguments.done` event: what must still be sent, and the whole valid text; undefined when it cannot be
   * repaired.
   */
  end(event: Loose): { rest: string; whole: string } | undefined {
    const given = asText(event["arguments"]) ?? "";
    const call = this.#find(event);
    // Nothing streamed: the event alone carries the arguments.
    if (call === undefined || call.fed === "") {
      const whole = this.#repair(given);
      return whole === undefined ? undefined : { rest: "", whole };
    }
    if (isJson(call.fed)) return { rest: "", whole: isJson(given) ? given : call.fed };
    // A fragment was lost: the event that repeats them all has it.
    const { sent } = call.guard;
    if (isJson(given) && given.startsWith(sent)) return { rest: given.slice(sent.length), whole: given };
    const rest = call.guard.end();
    if (rest === undefined) return undefined;
    const whole = call.guard.sent + rest;
    this.#repaired.set(call.fed, whole);
    this.#repaired.set(given, whole);
    return { rest, whole };
  }

  /** The finished item with valid arguments: the same object when nothing had to change, undefined when nothing can. */
  repairedItem(item: Loose): Loose | undefined {
    const given = asText(item["arguments"]);
    if (given === undefined) return item;
    const whole = this.#repair(given);
    if (whole === undefined) return undefined;
    return whole === given ? item : { ...item, arguments: whole };
  }

  /** The output list of the final response; undefined when it may stay as it is. */
  mendedOutput(output: unknown): unknown[] | "broken" | undefined {
    const items = asList(output);
    let changed = false;
    const repaired: unknown[] = [];
    for (const value of items) {
      const item = asRecord(value);
      const next = item["type"] === "function_call" ? this.repairedItem(item) : item;
      if (next === undefined) return "broken";
      if (next !== item) changed = true;
      repaired.push(next);
    }
    return changed ? repaired : undefined;
  }

  #repair(text: string): string | undefined {
    return this.#repaired.get(text) ?? (isJson(text) ? text : repairJson(text));
  }

  #find(event: Loose): Guarded | undefined {
    const id = asText(event["item_id"]);
    const byId = id ? this.#calls.findLast((call) => call.itemId === id) : undefined;
    const index = asNumber(event["output_index"]);
    return byId ?? this.#calls.findLast((call) => call.index === index && index !== undefined);
  }
}
