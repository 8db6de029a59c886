// The calls in progress of clients that cancel by a separate message, as older revisions of the protocol do over HTTP. As there
// are no sessions, a client is identified by its key, address and program, and a call by the client's number for it. If two calls
// cannot be told apart, neither is cancelled.

/** A call that can be cancelled. */
interface RunningCall {
  readonly name: string;
  readonly stop: AbortController;
}

/** The calls in progress. */
export class RunningCalls {
  readonly #calls = new Map<string, Set<RunningCall>>();

  /** Records a call. Its signal aborts when the client cancels it, and `done` removes it. */
  begin(client: string, id: string | number): { readonly signal: AbortSignal; done(): void } {
    const call = { name: nameOf(client, id), stop: new AbortController() };
    const alike = this.#calls.get(call.name) ?? new Set();
    this.#calls.set(call.name, alike.add(call));
    return {
      signal: call.stop.signal,
      done: () => {
        alike.delete(call);
        if (alike.size === 0 && this.#calls.get(call.name) === alike) this.#calls.delete(call.name);
      },
    };
  }

  /** Cancels the call with that number, if there is exactly one. */
  cancel(client: string, id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const [call, other] = this.#calls.get(nameOf(client, id)) ?? [];
    if (call === undefined || other !== undefined) return;
    call.stop.abort(new Error("The client cancelled the call."));
  }
}

function nameOf(client: string, id: string | number): string {
  return JSON.stringify([client, id]);
}
