// A chat request on the shortest way: from its body to its answer by plain calls. Most requests ask for a whole answer and use no
// feature, and most of their calls succeed; each promise, closure and layer would be a part of their time. Whatever such a request
// turns out to need besides goes the general way from there on, with the same functions: the reading of a longer body, stages,
// streams, and everything after a failed call.

import type { Stop } from "../../base/stop-signal.ts";
import { hearSmallJson, jsonOfSmall, readJsonText } from "../../http/body.ts";
import type { OutcomeListener } from "../../http/outcome.ts";
import type { BodyListener } from "../../http/small-body.ts";
import { hearAnswer, type ProviderAnswer, type WholeAnswerReader } from "../../upstream/ask.ts";
import { RouteTries, tryOn } from "../calls/attempts.ts";
import { Deadline } from "../calls/request-deadline.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { NO_RUNS } from "./answer.ts";
import { askedWhole, wholeAttempt } from "./asked-whole.ts";
import type { GatewayDeps } from "./deps.ts";
import { DirectStream } from "./direct-stream.ts";
import { type AdmittedRequest, answerRead, answerReady, opened } from "./opened.ts";
import { PlainTries } from "./plain-tries.ts";
import type { Answer } from "./stage.ts";
import { callFailed, type Prepared, plainlySent, type SentTurn } from "./walk.ts";
import { paidAnswer } from "./whole.ts";

/** What becomes of an answer. */
export interface ChatOutcome<T> {
  /** Makes of the answer what the listener is told. */
  shown(answer: Answer, request: Request): T;
  readonly listener: OutcomeListener<T>;
}

/** A request whose caller was let in. */
export class DirectChat<T> implements BodyListener<string>, WholeAnswerReader, OutcomeListener<Answer> {
  readonly #deps: GatewayDeps;
  readonly #admitted: AdmittedRequest;
  readonly #shown: (answer: Answer, request: Request) => T;
  readonly #listener: OutcomeListener<T>;
  #deadline: Deadline | undefined;
  // What a plain request has from its first call on.
  declare ready: Prepared;
  declare tries: RouteTries;
  declare attempt: RouteAttempt;
  declare sent: SentTurn;

  constructor(deps: GatewayDeps, admitted: AdmittedRequest, { shown, listener }: ChatOutcome<T>) {
    this.#deps = deps;
    this.#admitted = admitted;
    this.#shown = shown;
    this.#listener = listener;
  }

  /** Begins to read the body. Throws if it is not to be read, and tells the listener nothing then. */
  begin(): void {
    const deps = this.#deps;
    const { request } = this.#admitted;
    const limits = deps.bodyLimits();
    if (!hearSmallJson(request, limits, this)) this.#follow(this.#answerLong(readJsonText(request, limits)));
  }

  async #answerLong(body: ReturnType<typeof readJsonText>): Promise<Answer> {
    return answerRead(this.#deps, this.#admitted, await body);
  }

  bodyRead(text: string): void {
    const deps = this.#deps;
    const { request } = this.#admitted;
    try {
      const ready = opened(deps, this.#admitted, jsonOfSmall(request, text, deps.bodyLimits()));
      if (ready instanceof Promise) this.#follow(ready);
      else if (!isPlain(ready)) this.#follow(answerReady(deps, request, ready));
      else if (ready.turn.chat.stream) new DirectStream(deps, request, ready, this).begin();
      else this.#ask(ready);
    } catch (error) {
      this.failed(error);
    }
  }

  bodyRefused(error: unknown): void {
    this.failed(error);
  }

  /** Begins the first call of a plain request. Throws if there is none to make. */
  #ask(ready: Prepared): void {
    const deps = this.#deps;
    const { turn } = ready;
    const deadline = new Deadline(this.#admitted.request, deps.requestTimeoutMs());
    this.#deadline = deadline;
    this.ready = ready;
    this.tries = new RouteTries(turn.routes, deps, new PlainTries(turn, deadline));
    const attempt = this.tries.next();
    // Some calls wait, for another node or for a credential.
    if (attempt instanceof Promise || attempt.provider.client?.begin === undefined) this.#goOn(attempt);
    else this.#call(attempt, deadline.signal);
  }

  #call(attempt: RouteAttempt, signal: Stop): void {
    const deps = this.#deps;
    this.attempt = attempt;
    const { provider, route, headers } = attempt;
    try {
      const sent = plainlySent(deps, this.ready.turn, attempt);
      if (sent instanceof Promise) throw new Error("A small body is to be built at once.");
      this.sent = sent;
      const { turn, built } = sent;
      const options = { clock: deps.clock, signal, headers, choice: turn.preference?.choice(route) };
      if (!hearAnswer({ provider, request: built, reader: this }, options)) this.#goOn(attempt);
    } catch (error) {
      this.answerFailed(error);
    }
  }

  answerRead(answer: ProviderAnswer): void {
    const deps = this.#deps;
    const { attempt, sent } = this;
    let text: string;
    try {
      ({ text } = paidAnswer(deps, askedWhole(deps, NO_RUNS, { attempt, sent, answer })));
      this.tries.answered(attempt);
    } catch (error) {
      this.answerFailed(error);
      return;
    }
    this.answered({ text });
  }

  answerFailed(error: unknown): void {
    try {
      callFailed(this.#deps, this.ready.turn, error);
      this.tries.failed(this.attempt, error);
      this.#goOn(undefined);
    } catch (last) {
      this.failed(last);
    }
  }

  /** Goes on with the attempt, or with the next one, the general way. */
  #goOn(attempt: RouteAttempt | Promise<RouteAttempt> | undefined): void {
    const deps = this.#deps;
    const { ready, tries } = this;
    const { signal } = this.#deadline as Deadline;
    const take = (asked: Parameters<typeof paidAnswer>[1]): Answer => ({ text: paidAnswer(deps, asked).text });
    this.#follow(tryOn(tries, wholeAttempt(deps, ready, { signal, take }), attempt));
  }

  #follow(answer: Promise<Answer>): void {
    answer.then(
      (given) => this.answered(given),
      (error: unknown) => this.failed(error),
    );
  }

  answered(answer: Answer): void {
    let shown: T;
    try {
      shown = this.#shown(answer, this.#admitted.request);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.#deadline?.end();
    this.#listener.answered(shown);
  }

  failed(error: unknown): void {
    this.#deadline?.end();
    this.#listener.failed(error);
  }
}

/** Whether nothing but a route is asked. */
function isPlain({ turn, runs, made }: Prepared): boolean {
  return runs.length === 0 && made === undefined && turn.isHeard !== true;
}
