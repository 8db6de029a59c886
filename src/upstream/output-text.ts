// The text of a stream's output, which is kept in case the upstream reports no usage. Its length is limited, and appending is
// cheap.

/** Text beyond this length is dropped; counts of longer answers are extrapolated. */
const CHARS_KEPT_MAX = 512 * 1024;
/**
 * Concatenated strings are trees that keep the network buffers from which they were cut, so they are flattened at this interval.
 */
const FLATTEN_EVERY = 64;

/** Collects output text. */
export class OutputText {
  #text = "";
  #added = 0;
  #chars = 0;

  add(piece: string): void {
    this.#chars += piece.length;
    if (this.#text.length >= CHARS_KEPT_MAX) return;
    this.#text += piece;
    // Reading one character makes the engine flatten the string.
    if (++this.#added % FLATTEN_EVERY === 0) this.#text.charCodeAt(0);
  }

  /** The number of all characters that were added, including dropped ones. */
  get chars(): number {
    return this.#chars;
  }

  /** The kept text. */
  toString(): string {
    return this.#text;
  }
}
