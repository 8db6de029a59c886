// What a text model says of a question's options when it is shown no state at all: its liking for positions and for words. Taken
// off, what is left is what the state says. Needs no labelled rows, but a call more for each order of a question that is new.

import { sha256Hex } from "../../base/ids.ts";
import type { ChatMessage } from "../../chat/request.ts";

/** Shown in place of a state; what it says of itself is that there is nothing to say. */
export const CONTENT_FREE = "N/A";

/** Some kilobytes each at most; a program asks the same questions of many states. */
const KEPT_MAX = 2000;

/** Log-probabilities by position, by what was asked of which model. */
export class Priors {
  readonly #kept = new Map<string, readonly number[]>();

  /** Those of an asking, from memory or by `ask`: each request asks for itself, since it may end before its answer comes. */
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
