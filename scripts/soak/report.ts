// Prints the figures of a trial and collects its problems.

/** The limit of problems that are printed; further ones are only counted. */
const TOLD_MAX = 20;

export class Report {
  readonly #problems: string[] = [];
  #more = 0;

  /** Prints a figure. */
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

  within(name: string, got: number, least: number, most: number): void {
    if (got < least || got > most) this.fail(`${name}: expected ${least} to ${most}, got ${got}`);
  }

  get problems(): string[] {
    return this.#more === 0 ? this.#problems : [...this.#problems, `and ${this.#more} more`];
  }
}
