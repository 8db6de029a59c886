// Keeps a streamed tool call's arguments valid JSON: fragments flow while they are a prefix of valid JSON; from the
// first that is not, the rest of the call is held and repaired at its end.

import { isJson, JsonPrefix, repairJson } from "./repair.ts";

/** One call. */
export class ArgumentGuard {
  readonly #json = new JsonPrefix();
  #sent = "";
  #held: string | undefined;

  /** What passed to the client. */
  get sent(): string {
    return this.#sent;
  }

  /** Takes a fragment; true when it may pass to the client, false when it is held. */
  push(fragment: string): boolean {
    if (this.#held !== undefined) this.#held += fragment;
    else if (this.#json.push(fragment)) this.#sent += fragment;
    else this.#held = fragment;
    return this.#held === undefined;
  }

  /**
   * The call ended: the text that makes what was sent whole, mostly "". Undefined when nothing can: the answer must end
   * with `tool_arguments_invalid`.
   */
  end(): string | undefined {
    if (this.#held === undefined) return this.#json.complete ? "" : this.#json.closing(this.#sent);
    const repaired = repairJson(this.#sent + this.#held);
    if (repaired?.startsWith(this.#sent)) return repaired.slice(this.#sent.length);
    // Whole arguments with rubbish after them; an empty object is more likely a false start than the whole.
    return this.#sent.trim() !== "{}" && isJson(this.#sent) ? "" : undefined;
  }
}
