// The headers of answers of one kind at one path. To give a header another value costs a fraction of adding it, and the answers at
// a path have nearly always the same headers, so those of the answer before are filled again.

/** Makes the headers of the answers of one kind at one path. */
export class UsualHeaders {
  readonly #fixed: Readonly<Record<string, string>>;
  readonly #idHeader: string | undefined;
  #kept: Headers | undefined;
  /** The names of the headers that are filled again, in their order. */
  #names: readonly string[] = [];

  /** `fixed`: what every answer has. `idHeader`: a further name for the id of the request. */
  constructor(fixed: Readonly<Record<string, string>>, idHeader: string | undefined) {
    this.#fixed = fixed;
    this.#idHeader = idHeader;
  }

  /** The headers of one answer. They are only good until the next call: a `Response` has a copy of its own. */
  of(requestId: string, own: Readonly<Record<string, string>>): Headers {
    const headers = this.#kept !== undefined && this.#fits(own) ? this.#kept : this.#fresh(own);
    headers.set("x-request-id", requestId);
    if (this.#idHeader !== undefined) headers.set(this.#idHeader, requestId);
    for (const name in own) headers.set(name, own[name] as string);
    return headers;
  }

  /** Whether every kept header that may differ gets a value, and no other is needed. */
  #fits(own: Readonly<Record<string, string>>): boolean {
    const names = this.#names;
    let at = 0;
    for (const name in own) if (names[at++] !== name) return false;
    return at === names.length;
  }

  #fresh(own: Readonly<Record<string, string>>): Headers {
    this.#kept = new Headers(this.#fixed);
    this.#names = Object.keys(own);
    return this.#kept;
  }
}
