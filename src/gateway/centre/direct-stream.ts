// A chat request for a stream on the shortest way, as `DirectChat` is for whole answers: from its turn to the first content by plain
// calls. Whatever it turns out to need besides goes the general way from there on.

import { Stop } from "../../base/stop-signal.ts";
import type { OutcomeListener } from "../../http/outcome.ts";
import { CallKey } from "../../upstream/ask.ts";
import { beginsAtOnce } from "../../upstream/call.ts";
import { RouteTries, tryOn } from "../calls/attempts.ts";
import { hearLive, type LiveAnswer, type LiveListener } from "../calls/open-stream.ts";
import { clientGone } from "../calls/request-deadline.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { NO_RUNS } from "./answer.ts";
import type { GatewayDeps } from "./deps.ts";
import type { ProviderStream } from "./live.ts";
import {
  asStream,
  liveAttempt,
  OpeningWait,
  type Passage,
  passageOf,
  spendOpening,
  wantsShortTypes,
} from "./live-call.ts";
import { PlainTries } from "./plain-tries.ts";
import type { Answer } from "./stage.ts";
import { streamOf } from "./streamed.ts";
import { callFailed, type Prepared, plainlySent, type SentTurn } from "./walk.ts";

/** A request for a stream that no stage acts on. */
export class DirectStream implements LiveListener {
  readonly #deps: GatewayDeps;
  readonly #request: Request;
  readonly #ready: Prepared;
  readonly #listener: OutcomeListener<Answer>;
  readonly signal = new Stop();
  readonly #endsMs: number;
  readonly #wait: OpeningWait;
  readonly #isShort: boolean;
  /** Waits for the answer, of which the client has heard before it began. */
  #later: PromiseWithResolvers<ProviderStream> | undefined;
  declare tries: RouteTries;
  // What the call in progress has.
  #key: CallKey | undefined;
  #passage: Passage | undefined;
  declare attempt: RouteAttempt;
  declare sent: SentTurn;

  /** Throws if the client has left. */
  constructor(deps: GatewayDeps, request: Request, ready: Prepared, listener: OutcomeListener<Answer>) {
    // It may have left while its body was read or its model was looked up.
    if (request.signal.aborted) throw clientGone();
    this.#deps = deps;
    this.#request = request;
    this.#ready = ready;
    this.#listener = listener;
    this.#endsMs = performance.now() + deps.requestTimeoutMs();
    this.#isShort = wantsShortTypes(request);
    this.#wait = new OpeningWait(deps.peekMs, () => this.#tooLate());
    request.signal.addEventListener("abort", this, { once: true });
  }

  remainingMs(): number {
    return this.#endsMs - performance.now();
  }

  /** Begins the first call. Never throws. */
  begin(): void {
    const { turn } = this.#ready;
    try {
      this.tries = new RouteTries(turn.routes, this.#deps, new PlainTries(turn, this));
      const attempt = this.tries.next();
      // Some calls wait, for another node or for a credential.
      if (attempt instanceof Promise || attempt.provider.client?.begin === undefined) this.#goOn(attempt);
      else this.#call(attempt);
    } catch (error) {
      this.#lost(error);
    }
  }

  #call(attempt: RouteAttempt): void {
    const deps = this.#deps;
    const { provider, route } = attempt;
    const { signal } = this;
    this.attempt = attempt;
    try {
      const sent = plainlySent(deps, this.#ready.turn, attempt);
      if (sent instanceof Promise) throw new Error("A small body is to be built at once.");
      this.sent = sent;
      if (!beginsAtOnce(provider, sent.built)) {
        this.#goOn(attempt);
        return;
      }
      const passage = passageOf(deps, NO_RUNS, { isShort: this.#isShort, attempt, sent });
      const { request, relay } = passage;
      this.#passage = passage;
      const key = new CallKey(provider, deps.clock, sent.turn.preference?.choice(route));
      this.#key = key;
      const options = {
        ...{ signal, secret: key.secret, whole: passage.whole },
        begun: () => this.#wait.begun(),
      };
      hearLive({ attempt, request, relay, options, listener: this });
    } catch (error) {
      this.streamFailed(error);
    }
  }

  streamOpened(live: LiveAnswer): void {
    const { attempt, sent } = this;
    try {
      this.#key?.worked();
      const stream = asStream(live, sent, this.#passage as Passage);
      this.tries.answered(attempt);
      this.#opened(stream);
    } catch (error) {
      this.#lost(error);
    }
  }

  streamFailed(error: unknown): void {
    const deps = this.#deps;
    const { attempt, sent } = this;
    try {
      this.#key?.failed(error);
      if (this.#passage !== undefined) spendOpening(deps, { attempt, sent }, this.#passage);
      callFailed(deps, this.#ready.turn, error);
      this.#wait.restart();
      this.tries.failed(attempt, error);
      this.#goOn(undefined);
    } catch (last) {
      this.#lost(last);
    }
  }

  /** Goes on with the attempt, or with the next one, the general way. */
  #goOn(attempt: RouteAttempt | Promise<RouteAttempt> | undefined): void {
    const options = { isShort: this.#isShort, signal: this.signal, wait: this.#wait };
    tryOn(this.tries, liveAttempt(this.#deps, this.#ready, options), attempt).then(
      (live) => this.#opened(live),
      (error: unknown) => this.#lost(error),
    );
  }

  #opened(live: ProviderStream): void {
    this.#wait.end();
    if (this.#later === undefined) this.#answer(live, undefined);
    else this.#later.resolve(live);
  }

  /** The longest wait is over, so the client gets the headers, and the answer or its failure later. */
  #tooLate(): void {
    const later = Promise.withResolvers<ProviderStream>();
    // Nobody may be left to read of a failure.
    later.promise.catch(() => undefined);
    this.#later = later;
    this.#answer(undefined, later.promise);
  }

  #answer(live: ProviderStream | undefined, opening: Promise<ProviderStream> | undefined): void {
    let answer: Answer;
    try {
      const { signal } = this;
      // It hears of the client's leaving already, so that nobody else has to listen to the connection.
      answer = streamOf(this.#deps, { ready: this.#ready, live, opening, abort: signal, left: signal });
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#listener.answered(answer);
  }

  #lost(error: unknown): void {
    this.#wait.end();
    if (this.#later === undefined) this.#refuse(error);
    else this.#later.reject(error);
  }

  #refuse(error: unknown): void {
    this.#request.signal.removeEventListener("abort", this);
    this.#listener.failed(error);
  }

  /** The client has left. */
  handleEvent(): void {
    this.signal.abort(clientGone());
  }
}
