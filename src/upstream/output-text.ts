// The output text of a stream, kept in case the upstream reports no usage. Bounded, and cheap to append to.

/** Text beyond this is dropped: counts for longer answers are extrapolated. */
const CHARS_KEPT_MAX = 512 * 1024;
/** Concatenations are lazy trees that retain the network buffers they were cut from; they are flattened at this interval. */
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

  /** Number of characters added, kept or not. */
  get chars(): number {
    return this.#chars;
  }

  /** The kept text. */
  toString(): string {
    return this.#text;
  }
}
