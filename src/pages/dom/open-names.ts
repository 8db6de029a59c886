// The names of the open elements, innermost first, as the parser's list of them behaves. Its own list moves all names with each
// element that opens or closes, so that a page of nothing but start tags would take quadratic time.

/** What the parser uses of a list. */
export class OpenNames {
  /** The innermost name. */
  0: string | undefined;
  readonly #outermostFirst: string[] = [];

  get length(): number {
    return this.#outermostFirst.length;
  }

  /** The parser empties the list and never lengthens it so. */
  set length(length: number) {
    this.#outermostFirst.length = length;
    this[0] = this.#outermostFirst.at(-1);
  }

  unshift(name: string): void {
    this.#outermostFirst.push(name);
    this[0] = name;
  }

  shift(): string | undefined {
    const innermost = this.#outermostFirst.pop();
    this[0] = this.#outermostFirst.at(-1);
    return innermost;
  }

  includes(name: string): boolean {
    return this.#outermostFirst.includes(name);
  }

  /** How many names are inside the innermost element of that name; -1 if none has it. */
  indexOf(name: string): number {
    const at = this.#outermostFirst.lastIndexOf(name);
    return at < 0 ? -1 : this.length - 1 - at;
  }
}
