// The outcome of a request for those that are told it by a plain call, so that whoever answers needs no promise of its own.

/** Is told the outcome of a request, once. Its functions do not throw. */
export interface OutcomeListener<T> {
  answered(answer: T): void;
  failed(thrown: unknown): void;
}

/** How a request ends. */
export interface Ends<T> {
  close(request: Request, answer: T): Response;
  fail(request: Request, thrown: unknown): Response;
}

/** The response to a request whose outcome is told later. */
export class LaterResponse<T> implements OutcomeListener<T> {
  readonly response: Promise<Response>;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  readonly #ends: Ends<T>;
  readonly #request: Request;

  constructor(ends: Ends<T>, request: Request) {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#ends = ends;
    this.#request = request;
  }

  answered(answer: T): void {
    try {
      this.#resolve(this.#ends.close(this.#request, answer));
    } catch (error) {
      this.#reject(error);
    }
  }

  failed(thrown: unknown): void {
    try {
      this.#resolve(this.#ends.fail(this.#request, thrown));
    } catch (error) {
      this.#reject(error);
    }
  }
}
