// The guardrails of a request that is no chat: its texts on their way out, and those of the answer.

import type { Exchange } from "../../../http/exchange.ts";
import { clientGone } from "../../calls/request-deadline.ts";
import type { Guards } from "./deps.ts";
import type { Guardrail } from "./guardrail.ts";
import type { PassingText } from "./judging.ts";
import { Denied, deniedError, GuardSession } from "./session.ts";
import { mapTexts } from "./texts.ts";
import type { GuardedRequest } from "./tools.ts";

/** Whose request it is. */
export interface GuardedCaller extends Pick<GuardedRequest, "caller" | "model"> {
  /** Where it is told what was done. */
  readonly exchange: Pick<Exchange, "requestId" | "path" | "log" | "headers" | "tags" | "runId" | "caller">;
}

/** The guardrails that apply to a request. */
export class GuardedCall {
  readonly #guards: Guards;
  readonly #session: GuardSession;
  readonly #exchange: GuardedCaller["exchange"];

  constructor(guards: Guards, own: readonly Guardrail[], { caller, model, exchange }: GuardedCaller) {
    const { requestId, path: endpoint } = exchange;
    this.#guards = guards;
    this.#session = new GuardSession(own, { caller, model, requestId, endpoint, labels: exchange });
    this.#exchange = exchange;
  }

  /** A value with its texts as they may be sent. Throws `ApiError` if one of them is denied. */
  input<T>(value: T, signal?: AbortSignal): Promise<T> {
    const session = this.#session;
    return this.#told(async () => {
      await session.learn([], value, signal);
      const made = session.input(value);
      if (session.asksBeside) await session.beside(made, signal);
      return made;
    }, signal);
  }

  /** Refuses a text that has something to mask where nothing can be put in its place. */
  async readOnly(value: unknown, signal?: AbortSignal): Promise<void> {
    if ((await this.input(value, signal)) === value) return;
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
  output<T>(value: T, signal?: AbortSignal): Promise<T> {
    const session = this.#session;
    return this.#told(async () => {
      const texts: PassingText[] = [];
      const add = (isJson: boolean) => (text: string) => {
        texts.push({ text, kind: isJson ? "arguments" : "text", choice: 0, isJson });
        return text;
      };
      const others = { unread: () => undefined, leftOut: () => undefined };
      session.readable("output", value, () => mapTexts(value, { ...others, text: add(false), json: add(true) }) as T);
      await session.pass("output", texts, signal);
      let at = 0;
      const next = () => {
        const { text = "", isJson = false } = texts[at++] ?? {};
        return session.restored(text, isJson);
      };
      return texts.length === 0 ? value : (mapTexts(value, { ...others, text: next, json: next }) as T);
    }, signal);
  }

  /** JSON text with the values of its placeholders, for an answer that has nothing but words of the request. */
  restored(json: string): string {
    return this.#session.restored(json, true);
  }

  /** Notes that an answer cannot be read. Throws `ApiError` unless all that look through answers let it pass. */
  unreadable(error: unknown): Promise<void> {
    return this.#told(async () => {
      this.#session.readable("output", undefined, () => {
        throw error;
      });
    });
  }

  async #told<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted === true) throw clientGone();
      throw error instanceof Denied ? this.#refused(error) : error;
    } finally {
      this.#tell();
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
export function guardedBy(
  guards: Guards,
  guardrails: readonly Guardrail[],
  caller: GuardedCaller,
): GuardedCall | undefined {
  const own = guardrails.filter((guardrail) => guardrail.applies(caller) && guardrail.judge?.readsAnswersOnly !== true);
  return own.length === 0 ? undefined : new GuardedCall(guards, own, caller);
}
