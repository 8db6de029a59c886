// Collects the features of one block after the other. A page has thousands of blocks with hundreds of features each, so all of
// them are written to the same memory, and only the finished row is copied.

const WIDTH_AT_FIRST = 512;

/** The features of the current block. */
export class FeatureRow {
  #values = new Float32Array(WIDTH_AT_FIRST);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow(1);
    this.#values[this.#length++] = value;
  }

  pushAll(values: readonly number[] | Float32Array): void {
    if (this.#length + values.length > this.#values.length) this.#grow(values.length);
    for (let i = 0; i < values.length; i++) this.#values[this.#length++] = values[i] as number;
  }

  /** Returns the row and begins the next one. */
  finish(): Float32Array {
    const row = this.#values.slice(0, this.#length);
    this.#length = 0;
    return row;
  }

  #grow(more: number): void {
    const wider = new Float32Array(2 * (this.#values.length + more));
    wider.set(this.#values);
    this.#values = wider;
  }
}
