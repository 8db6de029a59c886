// What a trial prints, and the problems it collects.

/** Problems told in full; more are only counted. */
const TOLD_MAX = 20;

export class Report {
  readonly #problems: string[] = [];
  #more = 0;

  /** A figure. */
  say(line: string): void {
    process.stdout.write(`  ${line}\n`);
  }

  fail(problem: string): void {
    if (this.#problems.length < TOLD_MAX) this.#problems.push(problem);
    else this.#more++;
  }

  equal(name: string, got: unknown, expected: unknown): void {
    if (got !== expected) this.fail(`${name}: expected ${String(expected)}, got ${String(got)}`);
  }

  get problems(): string[] {
    return this.#more === 0 ? this.#problems : [...this.#problems, `and ${this.#more} more`];
  }
}
