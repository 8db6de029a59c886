// Names that are each given once. Clients and pages choose thousands of names that are alike, so that no name is looked for from the
// beginning.

/** How a number stands behind a name that is taken. */
export interface NumberedForm {
  readonly before: string;
  readonly after?: string;
  /** The limit of a name's length; its end makes room for the number. */
  readonly charsMax?: number;
}

/** The room for a number that nearly always suffices: it and what stands before it. */
const NUMBER_CHARS = 4;

/** Gives names that are not taken: the name itself, or with the lowest free number from 2 on. */
export class UnusedNames {
  readonly #form: NumberedForm;
  readonly #reserved: ReadonlySet<string> | undefined;
  readonly #taken = new Set<string>();
  /** The first number that may be free, by the beginning of a name. */
  readonly #numbers = new Map<string, number>();

  /** `reserved`: names that are never given to those that want another one. */
  constructor(form: NumberedForm, reserved?: ReadonlySet<string>) {
    this.#form = form;
    this.#reserved = reserved;
  }

  /** The name that is given for a wanted one. */
  take(wanted: string): string {
    const name = this.#taken.has(wanted) ? this.#numbered(wanted) : wanted;
    this.#taken.add(name);
    return name;
  }

  #numbered(wanted: string): string {
    const { before, after = "", charsMax = Number.POSITIVE_INFINITY } = this.#form;
    const beginning = wanted.slice(0, charsMax - NUMBER_CHARS);
    for (let number = this.#numbers.get(beginning) ?? 2; ; number++) {
      const end = before + number + after;
      const name = beginning.slice(0, charsMax - end.length) + end;
      if (this.#taken.has(name) || this.#reserved?.has(name) === true) continue;
      this.#numbers.set(beginning, number + 1);
      return name;
    }
  }
}
