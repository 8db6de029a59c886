// What the log lines of requests have in common. Most members of a line are those of the line before, and stand side by side: the
// text of such a run is kept, so that a line consists of a few pieces instead of two or three for each member.

/** Members beyond this number are not compared. */
const PLACES_MAX = 32;
/** Longer texts are not kept. */
const KEPT_CHARS_MAX = 200;

/** The text of the members from one place to another. */
interface Run {
  readonly end: number;
  readonly text: string;
}

/** The members of the last line of one kind, by their places. */
export class LineRuns {
  readonly #names: string[] = [];
  readonly #values: unknown[] = [];
  /** Whether the value at a place has changed from line to line. It is not compared any more. */
  readonly #varies: boolean[] = [];
  /** By the place where they begin. */
  readonly #runs: (Run | undefined)[] = [];

  /** Whether the member at a place is that of the line before. Remembers it for the next line. */
  isSame(place: number, name: string, value: unknown): boolean {
    if (place >= PLACES_MAX) return false;
    if (this.#names[place] !== name) {
      this.#names[place] = name;
      this.#keep(place, value);
      return false;
    }
    if (this.#varies[place] === true) return false;
    if (this.#values[place] === value) return true;
    this.#keep(place, undefined);
    return false;
  }

  /** The text of the members from `start` to `end`, if it is known. */
  textOf(start: number, end: number): string | undefined {
    const run = this.#runs[start];
    return run?.end === end ? run.text : undefined;
  }

  /** Keeps the text of the members from `start` to `end`, each of which is that of the line before. */
  keepText(start: number, end: number, text: string): void {
    // This joins the parts of the text.
    text.endsWith(",");
    this.#runs[start] = { end, text };
  }

  /** Keeps a value; with undefined, or one that may change without being another, it is never the same again. */
  #keep(place: number, value: unknown): void {
    const isKept = typeof value === "number" || (typeof value === "string" && value.length <= KEPT_CHARS_MAX);
    this.#varies[place] = !isKept;
    this.#values[place] = isKept ? value : undefined;
    this.#runs.length = 0;
  }
}
