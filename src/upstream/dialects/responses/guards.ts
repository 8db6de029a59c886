// Checks the JSON arguments of the calls in one relayed Responses answer. They are checked while they stream and repaired at the
// end, with the same repaired text wherever the protocol repeats it (arguments.done, output_item.done, the final response).

import { isJson, repairJson } from "../../../base/json-repair.ts";
import { ArgumentGuard } from "../../../chat/argument-guard.ts";
import { asList, asNumber, asRecord, asText, type Loose } from "../loose.ts";

interface Guarded {
  itemId: string | undefined;
  index: number | undefined;
  guard: ArgumentGuard;
  fed: string;
}

/** Calls beyond this number are not checked, which limits the memory. */
const CALLS_MAX = 512;

/** The calls of one answer. */
export class CallGuards {
  readonly #calls: Guarded[] = [];
  /** Invalid argument texts, each with its repaired form. */
  readonly #repaired = new Map<string, string>();

  /** Called when a call starts. */
  open(event: Loose, item: Loose): void {
    if (this.#calls.length >= CALLS_MAX) return;
    const itemId = asText(item["id"]) || undefined;
    this.#calls.push({ itemId, index: asNumber(event["output_index"]), guard: new ArgumentGuard(), fed: "" });
  }

  /** Takes a delta event. Returns whether its frame may be relayed. */
  push(event: Loose): boolean {
    const call = this.#find(event);
    const delta = asText(event["delta"]);
    if (call === undefined || delta === undefined) return true;
    call.fed += delta;
    return call.guard.push(delta);
  }

  /**
   * Takes an `arguments.done` event. Returns the text that must still be sent and the complete valid text; undefined if it cannot
   * be repaired.
   */
  end(event: Loose): { rest: string; whole: string } | undefined {
    const given = asText(event["arguments"]) ?? "";
    const call = this.#find(event);
    // Nothing was streamed, so the event alone has the arguments.
    if (call === undefined || call.fed === "") {
      const whole = this.#repair(given);
      return whole === undefined ? undefined : { rest: "", whole };
    }
    if (isJson(call.fed)) return { rest: "", whole: isJson(given) ? given : call.fed };
    // If a fragment was lost, the event still has the complete arguments.
    const { sent } = call.guard;
    if (isJson(given) && given.startsWith(sent)) return { rest: given.slice(sent.length), whole: given };
    const rest = call.guard.end();
    if (rest === undefined) return undefined;
    const whole = call.guard.sent + rest;
    this.#repaired.set(call.fed, whole);
    this.#repaired.set(given, whole);
    return { rest, whole };
  }

  /** The finished item with valid arguments: the same object if nothing had to change, undefined if they cannot be repaired. */
  repairedItem(item: Loose): Loose | undefined {
    const given = asText(item["arguments"]);
    if (given === undefined) return item;
    const whole = this.#repair(given);
    if (whole === undefined) return undefined;
    return whole === given ? item : { ...item, arguments: whole };
  }

  /** The output list of the final response with valid arguments; undefined if it needs no change. */
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
