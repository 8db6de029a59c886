// The answer to a request that streams.

import { type Limit, limit } from "../base/limit.ts";
import type { AnswerFault } from "../chat/answer-fault.ts";
import type { ChatEvent } from "../chat/event.ts";
import { asApiError } from "../http/errors.ts";
import { type SseSource, sseResponse } from "../http/sse-response.ts";
import { STOPPED } from "../store/usage/record.ts";
import { withKey } from "../upstream/ask.ts";
import { outcomeOfFault } from "../upstream/breaker.ts";
import type { EventReader } from "../upstream/dialect.ts";
import { forwardHeaders, holdAnswer, keepAnswer, noteRoute, spend } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import {
  type AdmittedRequest,
  answerNotesOf,
  buildRequest,
  dressOf,
  identityOf,
  isLossless,
  isRelayed,
  openingOf,
} from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { rememberBeginning, rememberRecord } from "./first-turn.ts";
import { fitJob } from "./fit.ts";
import { estimateUsage } from "./meter.ts";
import { type LiveAnswer, openLive } from "./open-stream.ts";
import { kindOfCode } from "./policy.ts";
import { clientGone } from "./request-deadline.ts";
import type { AttemptEnd, RouteAttempt } from "./route-call.ts";
import { Translation } from "./translation.ts";

/** Before the first event an error is still an HTTP status. */
const PEEK_MS = 10_000;
/** From the upstream's first event to its first content, at most. */
const CONTENT_GRACE_MS = 1000;

/** Answers with a stream, once the upstream has begun or after the longest wait. */
export async function answerStreaming(deps: GatewayDeps, request: Request, job: AdmittedRequest): Promise<Response> {
  // While its body was read or its model looked up: that event has been.
  if (request.signal.aborted) throw clientGone();
  const abort = new AbortController();
  const onGone = () => abort.abort(clientGone());
  request.signal.addEventListener("abort", onGone, { once: true });
  const deadlineMs = performance.now() + deps.requestTimeoutMs();
  const late = Promise.withResolvers<undefined>();
  const patience = limit(deps.peekMs ?? PEEK_MS, () => late.resolve(undefined));
  let grace: Limit | undefined;
  const begun = () => {
    grace ??= limit(CONTENT_GRACE_MS, () => late.resolve(undefined));
  };
  const opening = tryRoutes(job.routes, deps, {
    signal: abort.signal,
    remainingMs: () => deadlineMs - performance.now(),
    attempt: (turn) =>
      liveFrom(deps, { request, turn, job, signal: abort.signal, begun }).catch((error: unknown) => {
        // The next route has its own first event.
        grace?.cancel();
        grace = undefined;
        throw error;
      }),
    trace: job.trace,
    chat: job.chat,
    family: job.format.dialect,
    first: job.stay?.first,
  });
  let live: LiveJobAnswer | undefined;
  try {
    live = await Promise.race([opening, late.promise]);
  } catch (error) {
    request.signal.removeEventListener("abort", onGone);
    throw error;
  } finally {
    patience.cancel();
    grace?.cancel();
  }
  if (live !== undefined) {
    noteRoute(job, live.turn, live.request.dropped);
    if (isLossless(job, live.turn.provider)) forwardHeaders(job, live.turn.provider, live.responseHeaders);
  }
  return pump(deps, { request, job, opening, live, abort });
}

/** A stream that has begun, and the job as it went up. */
interface LiveJobAnswer extends LiveAnswer {
  job: AdmittedRequest;
}

interface Flow {
  request: Request;
  job: AdmittedRequest;
  opening: Promise<LiveJobAnswer>;
  live: LiveJobAnswer | undefined;
  abort: AbortController;
}

function pump(deps: GatewayDeps, flow: Flow): Response {
  const { job, request } = flow;
  return sseResponse(new AnswerPump(deps, flow), { keepalive: job.format.keepalive, signal: request.signal });
}

/** Returns the client what the upstream says, and writes down what it came to: once, however it ends. */
class AnswerPump implements SseSource {
  readonly #deps: GatewayDeps;
  readonly #flow: Flow;
  #live: LiveJobAnswer | undefined;
  #failed = false;
  #settled = false;
  #kept = false;
  #opened: boolean;
  /** What the headers could not say because they had gone out; it goes before the answer. */
  #late = "";
  #ttfbMs: number | null = null;
  /** Read once it is complete, where the conversation is kept. */
  readonly #heard: string[] | undefined;
  readonly #sentHeaders: ReadonlySet<string>;

  constructor(deps: GatewayDeps, flow: Flow) {
    const { job, live } = flow;
    this.#deps = deps;
    this.#flow = flow;
    this.#live = live;
    this.#opened = live !== undefined;
    const isRead = job.conversation !== undefined || job.held !== undefined || job.stay?.begun !== undefined;
    this.#heard = isRead ? [] : undefined;
    job.exchange.streaming = true;
    this.#sentHeaders = new Set(Object.keys(job.exchange.headers));
    deps.streamOpened?.();
  }

  async next(): Promise<string | undefined> {
    if (this.#failed) return undefined;
    const { job, opening } = this.#flow;
    if (!this.#opened) {
      this.#opened = true;
      // The headers go out with the first bytes, and the longest wait is over.
      return job.format.keepalive;
    }
    if (this.#live === undefined) {
      try {
        this.#live = await opening;
      } catch (error) {
        return this.#settled ? undefined : this.#fail(error);
      }
      noteRoute(job, this.#live.turn, this.#live.request.dropped);
      this.#late = lateHeaders(job.exchange.headers, this.#sentHeaders);
    }
    const live = this.#live;
    const text = await live.next();
    // Before the client has the end: it may ask for the answer at once.
    if (!this.#kept && job.keep !== undefined && live.relay.answer !== undefined) {
      this.#kept = true;
      const hidden = live.request.hidesEncrypted === true;
      await keepAnswer(this.#deps, job, live.relay.answer, { provider: live.turn.provider, hidden });
    }
    if (text !== undefined) this.#heard?.push(text);
    // Before the client has the end here too: it may continue at once.
    if (text === undefined && live.relay.fault === undefined && this.#heard !== undefined) {
      const heard = this.#heard.join("");
      await holdAnswer(this.#deps, live.job, { text: heard, usage: live.relay.usage });
      rememberBeginning(live.job, heard);
    }
    if (text === undefined) this.#settle(false);
    else this.#ttfbMs ??= performance.now() - job.exchange.startedMs;
    if (text === undefined || this.#late === "") return text;
    const late = this.#late;
    this.#late = "";
    return late + text;
  }

  cancel(): void {
    const { job, opening, abort } = this.#flow;
    abort.abort(clientGone());
    this.#live?.cancel();
    // An upstream answer that starts at this moment has no reader, but its usage still counts.
    if (this.#live === undefined) {
      const hold = job.hold?.share();
      const abandon = (live: LiveJobAnswer) => {
        live.cancel();
        settleLive(this.#deps, { job, live, gone: true, ttfbMs: this.#ttfbMs });
      };
      void opening.then(abandon, () => undefined).finally(() => hold?.release());
    }
    this.#settle(true);
  }

  /** No route gave an answer, and the headers have gone out. */
  #fail(error: unknown): string {
    const { job } = this.#flow;
    const { exchange, format } = job;
    this.#failed = true;
    exchange.log["error"] = asApiError(error).apiCode;
    this.#settle(false);
    return format.writer(dressOf(job, undefined)).fail({ ...asApiError(error).body(), request_id: exchange.requestId });
  }

  #settle(gone: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    const { job } = this.#flow;
    const live = this.#live;
    this.#deps.streamClosed?.();
    if (gone) job.exchange.log["client_gone"] = true;
    if (live !== undefined) {
      settleLive(this.#deps, { job, live, gone, ttfbMs: this.#ttfbMs });
      if (!gone && live.relay.fault === undefined && this.#heard !== undefined) {
        this.#deps.conversations?.answered(live.job, { text: this.#heard.join(""), usage: live.relay.usage });
      }
    }
    job.exchange.finish(200);
  }
}

/** Headers of ours that were set too late, as comments of the stream: readers pass over them, people find them. */
function lateHeaders(headers: Readonly<Record<string, string>>, sent: ReadonlySet<string>): string {
  const late = Object.entries(headers).filter(([name]) => name.startsWith("x-sallyport-") && !sent.has(name));
  return late.length === 0 ? "" : `${late.map(([name, value]) => `: ${name}: ${value}\n`).join("")}\n`;
}

interface LiveParts {
  request: Request;
  turn: RouteAttempt;
  job: AdmittedRequest;
  signal: AbortSignal;
  begun(): void;
}

async function liveFrom(deps: GatewayDeps, parts: LiveParts): Promise<LiveJobAnswer> {
  const { request, turn, signal, begun } = parts;
  const { provider, route } = turn;
  const job = await fitJob(deps, parts.job, { provider, signal });
  const short = request.headers.get("x-sallyport-event-types") === "short";
  const passes = isRelayed(job, provider) && !short;
  const build = () => buildRequest(deps, job, { provider, route });
  const asked = build();
  // A translated answer shows every seal, whatever protocol it is of.
  const built = passes ? asked : { ...asked, hidesEncrypted: false };
  const identity = identityOf(deps, job, { provider, request: built });
  const translation = (reader: EventReader) =>
    new Translation({
      reader,
      writer: job.format.writer(dressOf(job, provider, short)),
      // Names that went up as they came are not restored.
      request: passes ? { ...job.chat, tools: [], messages: [] } : job.chat,
      requestId: identity.requestId,
      opening: openingOf(job),
      notes: answerNotesOf(deps, job, provider),
      estimate: identity.estimate,
      say: identity.say,
      cutAt: built.cutAt,
      toolNames: provider.dialect.toolNames,
    });
  const relay = passes ? provider.dialect.lossless.relay(identity) : translation(provider.dialect.reader());
  const whole = (events: readonly ChatEvent[]) =>
    translation({ push: () => undefined, end: (out) => void out.push(...events) });
  try {
    const open = (secret: string) => openLive(turn, built, relay, { signal, secret, begun, whole });
    const live = await withKey(provider, deps.clock, open, job.stay?.choice(route));
    rememberRecord(job);
    return Object.assign(live, { job });
  } catch (error) {
    // A failed attempt that cost tokens counts once, under the model that spent them.
    if (relay.usage !== undefined)
      spend(deps, job, turn, {
        usage: relay.usage,
        status: 502,
        errorCode: "provider_unavailable",
        ttfbMs: null,
        isCall: true,
      });
    const refused = { error, route, provider, built: asked, rebuild: build };
    if (job.refusedReasoning.mayAskAgain(refused, deps.reasoning)) return liveFrom(deps, { ...parts, job });
    const shorter = await deps.conversations?.atWall(job, error);
    if (shorter !== undefined) return liveFrom(deps, { ...parts, job: shorter });
    throw error;
  }
}

function settleLive(
  deps: GatewayDeps,
  { job, live, gone, ttfbMs }: { job: AdmittedRequest; live: LiveJobAnswer; gone: boolean; ttfbMs: number | null },
): void {
  const { relay, turn } = live;
  const usage = relay.usage ?? estimateUsage(live.job.chat, relay.outputText());
  turn.end({ ...endOf(relay.fault, gone), usage });
  if (relay.fault !== undefined) job.exchange.log["error"] = relay.fault.code;
  spend(deps, job, turn, {
    usage,
    status: 200,
    errorCode: relay.fault?.code ?? (gone ? STOPPED : null),
    ttfbMs,
  });
}

function endOf(fault: AnswerFault | undefined, gone: boolean): Pick<AttemptEnd, "outcome" | "label"> {
  if (fault !== undefined) {
    const kind = kindOfCode(fault.reported ?? fault.code);
    return { outcome: outcomeOfFault(kind), label: kind === "call_invalid" ? kind : "interrupted" };
  }
  return gone ? { outcome: "unknown", label: "abandoned" } : { outcome: "ok", label: "ok" };
}
