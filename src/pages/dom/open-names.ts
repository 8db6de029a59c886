// The names of the open elements, innermost first, as the parser's list of them behaves. Its own list moves all names with each
// element that opens or closes, so that a page of nothing but start tags would take quadratic time.

/** What the parser uses of a list. */
export class OpenNames {
  /** The innermost name. */
  0: string | undefined;
  readonly #outermostFirst: string[] = [];
  /** How many of the list have a name. A page may open any number of elements, and each tag asks whether some are open. */
  readonly #counts = new Map<string, number>();

  get length(): number {
    return this.#outermostFirst.length;
  }

  /** The parser empties the list and never lengthens it so. */
  set length(length: number) {
    while (this.#outermostFirst.length > length) this.shift();
  }

  unshift(name: string): void {
    this.#outermostFirst.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this[0] = name;
  }

  shift(): string | undefined {
    const innermost = this.#outermostFirst.pop();
    if (innermost !== undefined) this.#counts.set(innermost, (this.#counts.get(innermost) ?? 1) - 1);
    this[0] = this.#outermostFirst.at(-1);
    return innermost;
  }

  includes(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0;
  }

  /** How many names are inside the innermost element of that name; -1 if none has it. */
  indexOf(name: string): number {
    return this.includes(name) ? this.length - 1 - this.#outermostFirst.lastIndexOf(name) : -1;
  }
}
