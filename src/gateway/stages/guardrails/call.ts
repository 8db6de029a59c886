// The guardrails of a request that is no chat: its texts on their way out, and those of the answer.

import type { Exchange } from "../../../http/exchange.ts";
import type { Guards } from "./deps.ts";
import type { GuardedRequest, Guardrail } from "./guardrail.ts";
import { scanned } from "./scan.ts";
import { Denied, deniedError, GuardSession } from "./session.ts";
import { mapTexts } from "./texts.ts";

/** Whose request it is. */
export interface GuardedCaller extends GuardedRequest {
  /** Where it is told what was done. */
  readonly exchange: Exchange;
}

/** The guardrails that apply to a request. */
export class GuardedCall {
  readonly #guards: Guards;
  readonly #session: GuardSession;
  readonly #exchange: Exchange;

  constructor(guards: Guards, own: readonly Guardrail[], exchange: Exchange) {
    this.#guards = guards;
    this.#session = new GuardSession(own);
    this.#exchange = exchange;
  }

  /** A value with its texts as they may be sent. Throws `ApiError` if one of them is denied. */
  input<T>(value: T): T {
    return this.#told(() => this.#session.input(value));
  }

  /** Refuses a text that has something to mask where nothing can be put in its place. */
  readOnly(value: unknown): void {
    if (this.input(value) === value) return;
    throw this.#refused(new Denied(this.#session.maskedBy ?? ""));
  }

  /** Whether an answer is looked through, or has something to restore. */
  get hears(): boolean {
    return this.#session.hears;
  }

  /** Whether answers may be denied or masked. */
  get guardsOutput(): boolean {
    return this.#session.guardsOutput;
  }

  /** The value of an answer with its texts as the caller may see them. Throws `ApiError` if one of them is denied. */
  output<T>(value: T): T {
    const text = (isJson: boolean) => (one: string) => scanned(this.#session.output({ isJson }), one);
    return this.#told(
      () =>
        mapTexts(value, {
          text: text(false),
          json: text(true),
          unread: () => undefined,
          leftOut: () => undefined,
        }) as T,
    );
  }

  #told<T>(work: () => T): T {
    try {
      const made = work();
      this.#tell();
      return made;
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      this.#tell();
      throw this.#refused(error);
    } finally {
      for (const { guardrail, action, count } of this.#session.takeCounts())
        this.#guards.count(guardrail, action, count);
    }
  }

  #refused(denied: Denied): Error {
    if (denied.cause !== undefined) {
      this.#guards.warn("a guardrail failed", { guardrail: denied.guardrail, error: denied.cause });
    }
    return deniedError(denied);
  }

  #tell(): void {
    const report = this.#session.report();
    if (report === undefined) return;
    this.#exchange.log["guardrails"] = report;
    this.#exchange.headers["x-sallyport-guardrails"] = report;
  }
}

/** The guardrails that apply to a request; undefined if none does. */
export function guardedBy(guards: Guards, all: readonly Guardrail[], caller: GuardedCaller): GuardedCall | undefined {
  const own = all.filter((guardrail) => guardrail.applies(caller));
  return own.length === 0 ? undefined : new GuardedCall(guards, own, caller.exchange);
}
