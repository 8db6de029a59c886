// The endpoints of models that do not chat. Most requests use no feature, and most of their calls succeed: these go the shortest way,
// by plain calls (`centre/direct-chat.ts` does the same for chats). Whatever else a request turns out to need goes the general way.

import { stringOf } from "../../../base/long-json.ts";
import type { ModelEndpoint } from "../../../catalog/endpoints/endpoint.ts";
import { hearSmallJson, jsonOfSmall } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import type { OutcomeListener } from "../../../http/outcome.ts";
import type { BodyListener } from "../../../http/small-body.ts";
import { type AnswerOpener, hearOpenAnswer } from "../../../upstream/ask.ts";
import type { OwnAnswer } from "../../../upstream/connection/own-answer.ts";
import { bytesAtHand, readAnswer, readAnswerBytes, textAtHand } from "../../../upstream/read-answer.ts";
import { withoutTags } from "../../admission/tags.ts";
import { RouteTries, tryOn } from "../../calls/attempts.ts";
import { Deadline } from "../../calls/request-deadline.ts";
import type { RouteAttempt } from "../../calls/route-call.ts";
import {
  type AdmittedCall,
  answerAdmitted,
  answerFound,
  endpointTrace,
  foundModel,
  lookedUp,
  type ModelEndpointDeps,
  pricedOn,
} from "./endpoint-answer.ts";
import {
  askRoute,
  type EndpointAnswer,
  formatConversion,
  relaysBytes,
  sentCall,
  settledAnswer,
} from "./endpoint-call.ts";
import type { Asked } from "./endpoint-request.ts";

/** Creates the functions that answer requests to model endpoints. */
export function createModelEndpoint(deps: ModelEndpointDeps) {
  /** Answers a request. */
  async function handle(request: Request, endpoint: ModelEndpoint): Promise<EndpointAnswer> {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange);
    return answerAdmitted(deps, { request, endpoint, exchange, caller });
  }

  /** The same at less cost for plain requests. Tells the listener later, or throws at once. */
  function answer(request: Request, endpoint: ModelEndpoint, listener: OutcomeListener<EndpointAnswer>): void {
    const exchange = exchangeOf(request);
    const caller = deps.admit(request, exchange);
    if (caller instanceof Promise) {
      caller
        .then((known) => answerAdmitted(deps, { request, endpoint, exchange, caller: known }))
        .then(
          (answered) => listener.answered(answered),
          (error: unknown) => listener.failed(error),
        );
    } else new DirectEndpoint(deps, { request, endpoint, exchange, caller }, listener).begin();
  }

  return { handle, answer };
}

/** A request whose caller was let in. */
class DirectEndpoint implements BodyListener<string>, AnswerOpener {
  readonly #deps: ModelEndpointDeps;
  readonly #call: AdmittedCall;
  readonly #listener: OutcomeListener<EndpointAnswer>;
  // What a plain request has from its first call on.
  #deadline: Deadline | undefined;
  #tries: RouteTries | undefined;
  #asked: Asked | undefined;
  #attempt: RouteAttempt | undefined;
  /** The request with the prices of the attempt's route. */
  #priced: Asked | undefined;

  constructor(deps: ModelEndpointDeps, call: AdmittedCall, listener: OutcomeListener<EndpointAnswer>) {
    this.#deps = deps;
    this.#call = call;
    this.#listener = listener;
  }

  /** Begins to read the body. Throws if it is not to be read, and tells the listener nothing then. */
  begin(): void {
    const deps = this.#deps;
    const { request, endpoint } = this.#call;
    if (endpoint.file !== undefined || !hearSmallJson(request, deps.bodyLimits(), this)) {
      this.#follow(answerAdmitted(deps, this.#call));
    }
  }

  bodyRead(whole: string): void {
    const deps = this.#deps;
    const call = this.#call;
    const { request, endpoint, exchange, caller } = call;
    try {
      const { text: read, body } = withoutTags(jsonOfSmall(request, whole, deps.bodyLimits()), exchange);
      const text = stringOf(read);
      const found = foundModel(deps, call, body);
      const isGuarded = deps.guards?.all() !== undefined;
      const looked = isGuarded ? undefined : lookedUp(deps, call, { text, body }, found.model);
      const isLimited = caller.budgets !== undefined || exchange.tokens !== undefined;
      if (isGuarded || looked !== undefined || isLimited || endpoint.gives === "any")
        this.#follow(answerFound(deps, call, { text, body }, { ...found, looked }));
      else {
        const { model, able } = found;
        const measured = endpoint.measure(body);
        this.#asked = { request, endpoint, exchange, caller, model, text, body, measured, upload: undefined };
        this.#ask(able);
      }
    } catch (error) {
      this.failed(error);
    }
  }

  bodyRefused(error: unknown): void {
    this.failed(error);
  }

  /** Begins the first call of a plain request. Throws if there is none to make. */
  #ask(routes: ConstructorParameters<typeof RouteTries>[0]): void {
    const deps = this.#deps;
    const { request, caller } = this.#call;
    const deadline = new Deadline(request, deps.requestTimeoutMs());
    this.#deadline = deadline;
    const { signal } = deadline;
    const tries = new RouteTries(routes, deps, {
      signal,
      remainingMs: () => deadline.remainingMs(),
      account: caller.accountId,
      trace: endpointTrace(this.#call),
    });
    this.#tries = tries;
    const attempt = tries.next();
    // Some calls wait, for another node or for a credential.
    if (attempt instanceof Promise || attempt.provider.client?.begin === undefined) this.#goOn(attempt);
    else this.#begin(attempt);
  }

  #begin(attempt: RouteAttempt): void {
    const deps = this.#deps;
    this.#attempt = attempt;
    const { provider, headers } = attempt;
    try {
      const asked = pricedOn(this.#asked as Asked, attempt.route);
      this.#priced = asked;
      const words = formatConversion(asked.endpoint, provider);
      const request = sentCall(deps, attempt, asked, { words, fields: asked.body });
      const options = { clock: deps.clock, signal: (this.#deadline as Deadline).signal, headers };
      if (!hearOpenAnswer({ provider, request, opener: this }, options)) this.#goOn(attempt);
    } catch (error) {
      this.answerFailed(error);
    }
  }

  answerOpened(answer: OwnAnswer): void {
    const { provider } = this.#attempt as RouteAttempt;
    const { signal } = this.#deadline as Deadline;
    const asked = this.#priced as Asked;
    const isBytes = relaysBytes(asked, formatConversion(asked.endpoint, provider));
    const whole = isBytes ? bytesAtHand(answer) : textAtHand(answer);
    if (whole !== undefined) this.#read(whole);
    else {
      const rest = isBytes ? readAnswerBytes(provider, answer, signal) : readAnswer(provider, answer, signal);
      rest.then(
        (read: string | Uint8Array) => this.#read(read),
        (error: unknown) => this.answerFailed(error),
      );
    }
  }

  #read(whole: string | Uint8Array): void {
    const attempt = this.#attempt as RouteAttempt;
    const asked = this.#priced as Asked;
    let answer: EndpointAnswer;
    try {
      const words = formatConversion(asked.endpoint, attempt.provider);
      answer = settledAnswer(this.#deps, attempt, asked, { whole, words });
      (this.#tries as RouteTries).answered(attempt);
    } catch (error) {
      this.answerFailed(error);
      return;
    }
    this.answered(answer);
  }

  answerFailed(error: unknown): void {
    try {
      (this.#tries as RouteTries).failed(this.#attempt as RouteAttempt, error);
      this.#goOn(undefined);
    } catch (last) {
      this.failed(last);
    }
  }

  /** Goes on with the attempt, or with the next one, the general way. */
  #goOn(attempt: RouteAttempt | Promise<RouteAttempt> | undefined): void {
    const deadline = this.#deadline as Deadline;
    const asked = this.#asked as Asked;
    const limits = {
      signal: deadline.signal,
      remainingMs: () => deadline.remainingMs(),
      restart: () => deadline.restart(),
    };
    const call = (one: RouteAttempt) => askRoute(this.#deps, one, pricedOn(asked, one.route), limits);
    this.#follow(tryOn(this.#tries as RouteTries, call, attempt));
  }

  #follow(answer: Promise<EndpointAnswer>): void {
    answer.then(
      (given) => this.answered(given),
      (error: unknown) => this.failed(error),
    );
  }

  answered(answer: EndpointAnswer): void {
    this.#deadline?.end();
    this.#listener.answered(answer);
  }

  failed(error: unknown): void {
    this.#deadline?.end();
    this.#listener.failed(error);
  }
}
