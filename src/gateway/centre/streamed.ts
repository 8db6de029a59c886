// Answers a request that wants a stream.

import { LATER, type Polled, PolledPromises } from "../../base/later.ts";
import { Stop, type StopSignal } from "../../base/stop-signal.ts";
import { asApiError } from "../../http/errors.ts";
import type { SseSource, TextTaker } from "../../http/sse-response.ts";
import { STOPPED } from "../../store/usage/record.ts";
import { tryRoutes } from "../calls/attempts.ts";
import { clientGone } from "../calls/request-deadline.ts";
import {
  answerCompleted,
  answerSettled,
  correctedFrames,
  gatesOf,
  noteRemovedReasoning,
  roundEnd,
  spend,
} from "./answer.ts";
import { writerContext } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import type { HeardStream } from "./hearing/heard-stream.ts";
import { callEndOf, endAttempt, noteLive, type ProviderStream, usageOf } from "./live.ts";
import { liveAttempt, OpeningWait, wantsShortTypes } from "./live-call.ts";
import type { Answer, StageRun } from "./stage.ts";
import { tryOptions } from "./turn.ts";
import type { Prepared } from "./walk.ts";

/** Starts the stream once the upstream has started, or after the longest wait. */
export async function answerStreaming(deps: GatewayDeps, request: Request, ready: Prepared): Promise<Answer> {
  // The client may have left while its body was read or its model was looked up, before a listener was added.
  if (request.signal.aborted) throw clientGone();
  const abort = new Stop();
  const signal: StopSignal = abort;
  const onGone = () => abort.abort(clientGone());
  request.signal.addEventListener("abort", onGone, { once: true });
  const timedOut = Promise.withResolvers<undefined>();
  const wait = new OpeningWait(deps.peekMs, () => timedOut.resolve(undefined));
  const isShort = wantsShortTypes(request);
  const gates = ready.runs.length === 0 ? undefined : gatesOf(ready.runs, ready.turn, abort);
  const open = (asked: Prepared) => {
    const deadlineMs = performance.now() + deps.requestTimeoutMs();
    return tryRoutes(asked.turn.routes, deps, {
      ...tryOptions(asked.turn),
      signal,
      remainingMs: () => deadlineMs - performance.now(),
      attempt: liveAttempt(deps, asked, { isShort, signal, wait }),
    });
  };
  const opening: Promise<StreamedAnswer> =
    ready.turn.isHeard === true
      ? import("./hearing/heard-stream.ts").then(({ openHeard }) =>
          openHeard(deps, ready, { open, stop: abort, isShort }),
        )
      : open(ready);
  let live: StreamedAnswer | undefined;
  try {
    live = await Promise.race([opening, timedOut.promise]);
    if (gates !== undefined) await gates;
  } catch (error) {
    request.signal.removeEventListener("abort", onGone);
    // A check may refuse an answer that has begun, or begins at this moment.
    if (gates !== undefined) {
      abort.abort(error);
      void opening.then((unsent) => refused(deps, unsent, error)).catch(() => undefined);
    }
    throw error;
  } finally {
    wait.end();
  }
  return streamOf(deps, { ready, opening, live, abort });
}

/** What is streamed to the client: the provider's answer, or what stages let pass of it. */
export type StreamedAnswer = ProviderStream | HeardStream;

function noteStream(live: StreamedAnswer): void {
  if (live.isHeard === true) live.note();
  else noteLive(live);
}

/** Ends an answer of which nothing is sent. */
function refused(deps: GatewayDeps, live: StreamedAnswer, error: unknown): void {
  const { apiCode: errorCode, status } = asApiError(error);
  live.cancel();
  if (live.isHeard === true) live.refuse({ errorCode, status });
  else {
    endAttempt(live, true);
    spend(deps, live.turn, live.attempt, { usage: usageOf(live), status, errorCode, ttfbMs: null, isCall: true });
  }
}

interface Flow {
  ready: Prepared;
  /** The answer, if it has begun. */
  live: StreamedAnswer | undefined;
  /** Waits for it; undefined if it has begun. */
  opening: Promise<StreamedAnswer> | undefined;
  abort: Stop;
  /** Aborts when the client leaves; absent if only the request's own signal does. */
  left?: StopSignal;
}

/** The stream of an answer for the client. It has begun, or the client hears of it before it does. */
export function streamOf(deps: GatewayDeps, flow: Flow): Answer {
  if (flow.live !== undefined) noteStream(flow.live);
  return { source: new AnswerPump(deps, flow), keepalive: flow.ready.turn.format.keepalive, left: flow.left };
}

/** Sends the upstream's answer to the client and records the outcome exactly once, however the answer ends. */
class AnswerPump implements SseSource {
  readonly #deps: GatewayDeps;
  readonly #flow: Flow;
  readonly #runs: readonly StageRun[];
  #live: StreamedAnswer | undefined;
  #failed = false;
  #settled = false;
  #completed = false;
  #opened: boolean;
  /** Headers that were set after the headers had been sent; they are written into the stream before the answer. */
  #trailingHeaders = "";
  #ttfbMs: number | null = null;
  /** The text that was sent, if a stage reads it once the answer is complete. */
  #heard: string[] | undefined;
  #started = false;
  #taker: TextTaker | undefined;
  readonly #sentHeaders: ReadonlySet<string>;
  readonly #texts = new PolledPromises(() => this.next());

  constructor(deps: GatewayDeps, flow: Flow) {
    const { ready, live } = flow;
    const { exchange } = ready.turn;
    this.#deps = deps;
    this.#flow = flow;
    this.#runs = ready.runs;
    this.#live = live;
    this.#opened = live !== undefined;
    exchange.streaming = true;
    this.#sentHeaders = new Set(Object.keys(exchange.headers));
    deps.streamOpened?.();
  }

  async next(): Promise<string | undefined> {
    if (this.#failed) return undefined;
    const { ready, opening } = this.#flow;
    const { exchange, format } = ready.turn;
    if (!this.#opened) {
      this.#opened = true;
      // The longest wait is over, so the headers are sent with these bytes.
      return format.keepalive;
    }
    if (this.#live === undefined) {
      try {
        this.#live = (await opening) as StreamedAnswer;
      } catch (error) {
        return this.#settled ? undefined : this.#fail(error);
      }
      noteStream(this.#live);
      // Only streams of server-sent events have comments.
      if (format.edge?.streamType === undefined)
        this.#trailingHeaders = trailingHeaderComments(exchange.headers, this.#sentHeaders);
    }
    const live = this.#live;
    if (!this.#started) {
      this.#started = true;
      // A stage may know it only since the route that answers was asked.
      this.#heard = this.#runs.some(({ readsText }) => readsText === true) ? [] : undefined;
    }
    let text = await live.next();
    // The client has left meanwhile: what there is of the answer is settled, and is not complete.
    if (this.#settled) return undefined;
    if (text !== undefined) this.#heard?.push(text);
    // Stages keep the answer before the client sees its end, as the client may continue or fetch it immediately.
    if (!this.#completed && this.#runs.length > 0 && (text === undefined || isComplete(live))) {
      this.#completed = true;
      const corrected = await this.#complete(live);
      if (corrected !== undefined && text !== undefined) text = correctedFrames(text, corrected);
    }
    if (text === undefined) this.#settle(false);
    else this.#ttfbMs ??= performance.now() - exchange.startedMs;
    if (text === undefined || this.#trailingHeaders === "") return text;
    const headers = this.#trailingHeaders;
    this.#trailingHeaders = "";
    return headers + text;
  }

  poll(wake: () => void): Polled<string | undefined> {
    const live = this.#live;
    const isPlain = live !== undefined && live.isHeard !== true && this.#runs.length === 0;
    // Most answers pass as they come. For others, several things may be awaited.
    if (!isPlain || this.#trailingHeaders !== "" || this.#texts.isBusy) return this.#texts.poll(wake);
    const text = live.poll(wake);
    if (text === LATER) return LATER;
    if (text === undefined) this.#settle(false);
    else if (this.#ttfbMs === null) {
      this.#ttfbMs = performance.now() - this.#flow.ready.turn.exchange.startedMs;
      // Nothing more is to be done with the texts that follow.
      live.pushTo(this.#taker);
    }
    return text;
  }

  pushTo(taker: TextTaker): void {
    this.#taker = taker;
  }

  #complete(live: StreamedAnswer) {
    const text = () => this.#heard?.join("") ?? "";
    if (live.isHeard === true) return live.complete(text);
    const { turn, attempt, relay, request } = live;
    return answerCompleted(this.#deps, this.#runs, {
      turn,
      target: attempt,
      usage: relay.usage,
      fault: relay.fault,
      text,
      body: () => relay.answer,
      hidesEncrypted: request.hidesEncrypted === true,
    });
  }

  cancel(): void {
    const { ready, opening, abort } = this.#flow;
    abort.abort(clientGone());
    this.#live?.cancel();
    // If the upstream starts to answer at this moment, nobody reads the answer, but its usage still counts.
    if (this.#live === undefined) {
      const reservation = ready.turn.reservation?.share();
      const abandon = (live: StreamedAnswer) => {
        live.cancel();
        this.#settleAnswer(live, true);
      };
      void opening?.then(abandon, () => undefined).finally(() => reservation?.release());
    }
    this.#settle(true);
  }

  /** The error text when no route answered although the headers have been sent. */
  #fail(error: unknown): string {
    const { turn } = this.#flow.ready;
    const { exchange, format } = turn;
    this.#failed = true;
    exchange.log["error"] = asApiError(error).apiCode;
    this.#settle(false);
    return format
      .writer(writerContext(turn, undefined))
      .fail({ ...asApiError(error).body(), request_id: exchange.requestId });
  }

  #settle(gone: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    const { turn } = this.#flow.ready;
    const live = this.#live;
    this.#deps.streamClosed?.();
    if (gone) turn.exchange.log["client_gone"] = true;
    if (live !== undefined) this.#settleAnswer(live, gone);
    else answerSettled(this.#runs, { turn, rounds: [] });
    turn.exchange.finish(200);
  }

  #settleAnswer(live: StreamedAnswer, gone: boolean): void {
    if (live.isHeard === true) live.settle(gone);
    else settleLive(this.#deps, this.#runs, { live, gone, ttfbMs: this.#ttfbMs });
  }
}

function isComplete(live: StreamedAnswer): boolean {
  return (live.isHeard === true ? live.answer : live.relay.answer) !== undefined;
}

/** The gateway's headers that were set too late, as comments in the stream: parsers skip them, and people can read them. */
function trailingHeaderComments(headers: Readonly<Record<string, string>>, sent: ReadonlySet<string>): string {
  const late = Object.entries(headers).filter(([name]) => name.startsWith("x-sallyport-") && !sent.has(name));
  return late.length === 0 ? "" : `${late.map(([name, value]) => `: ${name}: ${value}\n`).join("")}\n`;
}

function settleLive(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  { live, gone, ttfbMs }: { live: ProviderStream; gone: boolean; ttfbMs: number | null },
): void {
  const { relay, attempt, turn } = live;
  const usage = usageOf(live);
  attempt.end({ ...callEndOf(relay.fault, gone), usage });
  noteRemovedReasoning(turn, relay.reasoningRemoved);
  if (relay.fault !== undefined) turn.exchange.log["error"] = relay.fault.code;
  const errorCode = relay.fault?.code ?? (gone ? STOPPED : null);
  spend(deps, turn, attempt, { usage, status: 200, errorCode, ttfbMs });
  if (runs.length > 0) answerSettled(runs, { turn, rounds: [roundEnd(turn, attempt, usage)] });
}
