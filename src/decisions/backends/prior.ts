// The answer of a text model to a question without a state, which shows its bias for positions and words. Subtracting it leaves
// the effect of the state. This needs no labelled rows, but one more call for each order of a new question.

import { sha256Hex } from "../../base/ids.ts";
import type { ChatMessage } from "../../chat/request.ts";

/** The text in place of a state; it means that there is no information. */
export const CONTENT_FREE = "N/A";

/** Maximum number of cached answers, of a few kilobytes each. Programs send the same questions about many states. */
const KEPT_MAX = 2000;

/** Log probabilities by position, by model and prompt. */
export class Priors {
  readonly #kept = new Map<string, readonly number[]>();

  /**
   * The log probabilities of a prompt, from the cache or by `ask`. Each request makes its own call, since a request may end
   * before its answer arrives.
   */
  async of(
    models: string,
    messages: readonly ChatMessage[],
    ask: () => Promise<readonly number[]>,
  ): Promise<readonly number[]> {
    const key = sha256Hex(JSON.stringify([models, messages]));
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const asked = await ask();
    if (this.#kept.size >= KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(key, asked);
    return asked;
  }
}
