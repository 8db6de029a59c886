// The output text of a stream, kept for the case that the upstream reports no usage. Bounded, and cheap to add to.

/** Beyond this nothing is kept: counts for longer answers are scaled up from what is kept. */
const CHARS_KEPT_MAX = 512 * 1024;
/** Concatenations are lazy trees that hold on to the network buffers they were cut from; this often they are made flat. */
const FLATTEN_EVERY = 64;

/** Gathers output text. */
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

  /** Characters added, kept or not. */
  get chars(): number {
    return this.#chars;
  }

  /** What is kept. */
  toString(): string {
    return this.#text;
  }
}
