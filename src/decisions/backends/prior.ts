// A text model's answer to a question without any state: its bias for positions and words. Subtracting it leaves the effect
// of the state. Needs no labelled rows, but one more call for each order of a new question.

import { sha256Hex } from "../../base/ids.ts";
import type { ChatMessage } from "../../chat/request.ts";

/** Shown instead of a state; says that there is nothing to say. */
export const CONTENT_FREE = "N/A";

/** A few kilobytes each at most; programs ask the same questions about many states. */
const KEPT_MAX = 2000;

/** Log probabilities by position, keyed by model and prompt. */
export class Priors {
  readonly #kept = new Map<string, readonly number[]>();

  /** Those of a prompt, from the cache or by `ask`: each request asks for itself, since it may end before its answer arrives. */
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
