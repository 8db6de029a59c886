// Keeps a streamed tool call's arguments valid JSON: fragments pass while they are a prefix of valid JSON; after the first
// that is not, the rest of the call is held and repaired at its end.

import { isJson, JsonPrefix, repairJson } from "../base/json-repair.ts";

/** One call. */
export class ArgumentGuard {
  readonly #json = new JsonPrefix();
  #sent = "";
  #held: string | undefined;

  /** What was sent to the client. */
  get sent(): string {
    return this.#sent;
  }

  /** Takes a fragment; true if it may be sent to the client, false if it is held. */
  push(fragment: string): boolean {
    if (this.#held !== undefined) this.#held += fragment;
    else if (this.#json.push(fragment)) this.#sent += fragment;
    else this.#held = fragment;
    return this.#held === undefined;
  }

  /**
   * The call ended: returns the text that completes what was sent, usually "". Undefined if that is impossible: the answer
   * must end with `tool_arguments_invalid`.
   */
  end(): string | undefined {
    if (this.#held === undefined) return this.#json.complete ? "" : this.#json.closing(this.#sent);
    const repaired = repairJson(this.#sent + this.#held);
    if (repaired?.startsWith(this.#sent)) return repaired.slice(this.#sent.length);
    // Complete arguments followed by garbage; an empty object is more likely a false start than the complete arguments.
    return this.#sent.trim() !== "{}" && isJson(this.#sent) ? "" : undefined;
  }
}
