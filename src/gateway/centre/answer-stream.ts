// Answers a request that wants a stream.

import { type Limit, limit } from "../../base/limit.ts";
import type { AnswerFault } from "../../chat/answer-fault.ts";
import type { ChatEvent } from "../../chat/event.ts";
import { asApiError } from "../../http/errors.ts";
import { type SseSource, sseResponse } from "../../http/sse-response.ts";
import { STOPPED } from "../../store/usage/record.ts";
import { withKey } from "../../upstream/ask.ts";
import { outcomeOfFault } from "../../upstream/breaker.ts";
import type { EventReader } from "../../upstream/dialect.ts";
import type { FaultKind } from "../../upstream/fault.ts";
import { rememberBeginning, rememberRecord } from "../stages/affinity/first-turn.ts";
import { framesWithoutStore } from "../stages/history/not-kept.ts";
import { usageSettler } from "../usage/meter.ts";
import { forwardHeaders, keepAnswer, noteRoute, spend, storeThreadAnswer } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import {
  type AdmittedRequest,
  answerNotesOf,
  buildRequest,
  identityOf,
  isLossless,
  isRelayed,
  openingOf,
  writerContext,
} from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { adaptToProvider } from "./fit.ts";
import { type LiveAnswer, openLive } from "./open-stream.ts";
import { kindOfCode } from "./policy.ts";
import { clientGone } from "./request-deadline.ts";
import type { AttemptEnd, RouteAttempt } from "./route-call.ts";
import { Translation } from "./translation.ts";

/** How long the headers wait for the upstream's first event. Until then, an error has an HTTP status. */
const PEEK_MS = 10_000;
/** How long the headers also wait for the first content after the first event. */
const CONTENT_GRACE_MS = 1000;

/** Starts the stream once the upstream has started, or after the longest wait. */
export async function answerStreaming(
  deps: GatewayDeps,
  request: Request,
  admitted: AdmittedRequest,
): Promise<Response> {
  // The client may have left while its body was read or its model was looked up, before a listener was added.
  if (request.signal.aborted) throw clientGone();
  const abort = new AbortController();
  const onGone = () => abort.abort(clientGone());
  request.signal.addEventListener("abort", onGone, { once: true });
  const deadlineMs = performance.now() + deps.requestTimeoutMs();
  const timedOut = Promise.withResolvers<undefined>();
  const patience = limit(deps.peekMs ?? PEEK_MS, () => timedOut.resolve(undefined));
  let grace: Limit | undefined;
  const begun = () => {
    grace ??= limit(CONTENT_GRACE_MS, () => timedOut.resolve(undefined));
  };
  const opening = tryRoutes(admitted.routes, deps, {
    signal: abort.signal,
    remainingMs: () => deadlineMs - performance.now(),
    attempt: (attempt) =>
      liveFrom(deps, { request, attempt, admitted, signal: abort.signal, begun }).catch((error: unknown) => {
        // After a failure, the wait for content starts again with the next route's first event.
        grace?.cancel();
        grace = undefined;
        throw error;
      }),
    trace: admitted.trace,
    chat: admitted.chat,
    family: admitted.format.dialect,
    account: admitted.caller.accountId,
    first: admitted.placement?.first,
  });
  let live: StreamedAnswer | undefined;
  try {
    live = await Promise.race([opening, timedOut.promise]);
  } catch (error) {
    request.signal.removeEventListener("abort", onGone);
    throw error;
  } finally {
    patience.cancel();
    grace?.cancel();
  }
  if (live !== undefined) {
    noteRoute(admitted, live.attempt, live.request.dropped);
    if (isLossless(admitted, live.attempt.provider))
      forwardHeaders(admitted, live.attempt.provider, live.responseHeaders);
  }
  return pump(deps, { request, admitted, opening, live, abort });
}

/** A stream that has started, with the request as it was sent. */
interface StreamedAnswer extends LiveAnswer {
  admitted: AdmittedRequest;
}

interface Flow {
  request: Request;
  admitted: AdmittedRequest;
  opening: Promise<StreamedAnswer>;
  live: StreamedAnswer | undefined;
  abort: AbortController;
}

function pump(deps: GatewayDeps, flow: Flow): Response {
  const { admitted, request } = flow;
  return sseResponse(new AnswerPump(deps, flow), { keepalive: admitted.format.keepalive, signal: request.signal });
}

/** Sends the upstream's answer to the client and records the outcome exactly once, however the answer ends. */
class AnswerPump implements SseSource {
  readonly #deps: GatewayDeps;
  readonly #flow: Flow;
  #live: StreamedAnswer | undefined;
  #failed = false;
  #settled = false;
  #kept = false;
  #opened: boolean;
  /** Headers that were set after the headers had been sent; they are written into the stream before the answer. */
  #trailingHeaders = "";
  #ttfbMs: number | null = null;
  /** The text that was sent. It is read once the answer is complete, if the conversation is stored. */
  readonly #heard: string[] | undefined;
  readonly #sentHeaders: ReadonlySet<string>;

  constructor(deps: GatewayDeps, flow: Flow) {
    const { admitted, live } = flow;
    this.#deps = deps;
    this.#flow = flow;
    this.#live = live;
    this.#opened = live !== undefined;
    const isRead =
      admitted.compactable !== undefined ||
      admitted.gatewayThread !== undefined ||
      admitted.placement?.rememberFirstAnswer !== undefined;
    this.#heard = isRead ? [] : undefined;
    admitted.exchange.streaming = true;
    this.#sentHeaders = new Set(Object.keys(admitted.exchange.headers));
    deps.streamOpened?.();
  }

  async next(): Promise<string | undefined> {
    if (this.#failed) return undefined;
    const { admitted, opening } = this.#flow;
    if (!this.#opened) {
      this.#opened = true;
      // The longest wait is over, so the headers are sent with these bytes.
      return admitted.format.keepalive;
    }
    if (this.#live === undefined) {
      try {
        this.#live = await opening;
      } catch (error) {
        return this.#settled ? undefined : this.#fail(error);
      }
      noteRoute(admitted, this.#live.attempt, this.#live.request.dropped);
      this.#trailingHeaders = trailingHeaderComments(admitted.exchange.headers, this.#sentHeaders);
    }
    const live = this.#live;
    let text = await live.next();
    // The answer is stored before the client sees its end, as the client may fetch it immediately.
    if (!this.#kept && admitted.keep !== undefined && live.relay.answer !== undefined) {
      this.#kept = true;
      const hidden = live.request.hidesEncrypted === true;
      const { provider } = live.attempt;
      const isKept = await keepAnswer(this.#deps, admitted, live.relay.answer, { provider, hidden });
      if (!isKept && text !== undefined) text = framesWithoutStore(text);
    }
    if (text !== undefined) this.#heard?.push(text);
    // This also happens before the client sees the end, as it may continue immediately.
    if (text === undefined && live.relay.fault === undefined && this.#heard !== undefined) {
      const heard = this.#heard.join("");
      await storeThreadAnswer(this.#deps, live.admitted, { text: heard, usage: live.relay.usage });
      rememberBeginning(live.admitted, heard);
    }
    if (text === undefined) this.#settle(false);
    else this.#ttfbMs ??= performance.now() - admitted.exchange.startedMs;
    if (text === undefined || this.#trailingHeaders === "") return text;
    const headers = this.#trailingHeaders;
    this.#trailingHeaders = "";
    return headers + text;
  }

  cancel(): void {
    const { admitted, opening, abort } = this.#flow;
    abort.abort(clientGone());
    this.#live?.cancel();
    // If the upstream starts to answer at this moment, nobody reads the answer, but its usage still counts.
    if (this.#live === undefined) {
      const shared = admitted.reservation?.share();
      const abandon = (live: StreamedAnswer) => {
        live.cancel();
        settleLive(this.#deps, { admitted, live, gone: true, ttfbMs: this.#ttfbMs });
      };
      void opening.then(abandon, () => undefined).finally(() => shared?.release());
    }
    this.#settle(true);
  }

  /** The error text when no route answered although the headers have been sent. */
  #fail(error: unknown): string {
    const { admitted } = this.#flow;
    const { exchange, format } = admitted;
    this.#failed = true;
    exchange.log["error"] = asApiError(error).apiCode;
    this.#settle(false);
    return format
      .writer(writerContext(admitted, undefined))
      .fail({ ...asApiError(error).body(), request_id: exchange.requestId });
  }

  #settle(gone: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    const { admitted } = this.#flow;
    const live = this.#live;
    this.#deps.streamClosed?.();
    if (gone) admitted.exchange.log["client_gone"] = true;
    if (live !== undefined) {
      settleLive(this.#deps, { admitted, live, gone, ttfbMs: this.#ttfbMs });
      if (!gone && live.relay.fault === undefined && this.#heard !== undefined) {
        this.#deps.compaction?.answered(live.admitted, { text: this.#heard.join(""), usage: live.relay.usage });
      }
    }
    admitted.exchange.finish(200);
  }
}

/** The gateway's headers that were set too late, as comments in the stream: parsers skip them, and people can read them. */
function trailingHeaderComments(headers: Readonly<Record<string, string>>, sent: ReadonlySet<string>): string {
  const late = Object.entries(headers).filter(([name]) => name.startsWith("x-sallyport-") && !sent.has(name));
  return late.length === 0 ? "" : `${late.map(([name, value]) => `: ${name}: ${value}\n`).join("")}\n`;
}

interface LiveParts {
  request: Request;
  attempt: RouteAttempt;
  admitted: AdmittedRequest;
  signal: AbortSignal;
  begun(): void;
}

async function liveFrom(deps: GatewayDeps, parts: LiveParts): Promise<StreamedAnswer> {
  const { request, attempt, signal, begun } = parts;
  const { provider, route } = attempt;
  const admitted = await adaptToProvider(deps, parts.admitted, { provider, signal });
  const short = request.headers.get("x-sallyport-event-types") === "short";
  const passes = isRelayed(admitted, provider) && !short;
  const build = () => buildRequest(deps, admitted, { provider, route });
  const asked = build();
  // A translated answer contains every seal, whatever the protocol.
  const built = passes ? asked : { ...asked, hidesEncrypted: false };
  const identity = identityOf(deps, admitted, { provider, request: built });
  const translation = (reader: EventReader) =>
    new Translation({
      reader,
      writer: admitted.format.writer(writerContext(admitted, provider, short)),
      // On the relayed path, tool names were sent unchanged, so none must be restored.
      request: passes ? { ...admitted.chat, tools: [], messages: [] } : admitted.chat,
      requestId: identity.requestId,
      opening: openingOf(admitted),
      notes: answerNotesOf(deps, admitted, provider),
      settle: identity.settle,
      tell: identity.tell,
      cutAt: built.cutAt,
      toolNames: provider.dialect.toolNames,
    });
  const relay = passes ? provider.dialect.lossless.relay(identity) : translation(provider.dialect.reader());
  const whole = (events: readonly ChatEvent[]) =>
    translation({ push: () => undefined, end: (out) => void out.push(...events) });
  try {
    const open = (secret: string) => openLive(attempt, built, relay, { signal, secret, begun, whole });
    const live = await withKey(provider, deps.clock, open, admitted.placement?.choice(route));
    rememberRecord(admitted);
    return Object.assign(live, { admitted });
  } catch (error) {
    // A failed attempt that used tokens is recorded once, under the model that used them.
    if (relay.usage !== undefined)
      spend(deps, admitted, attempt, {
        usage: relay.usage,
        status: 502,
        errorCode: "provider_unavailable",
        ttfbMs: null,
        isCall: true,
      });
    const refused = { error, route, provider, built: asked, rebuild: build };
    if (admitted.refusedReasoning.mayAskAgain(refused, deps.reasoning)) return liveFrom(deps, { ...parts, admitted });
    const shorter = await deps.compaction?.afterOverflow(admitted, error);
    if (shorter !== undefined) return liveFrom(deps, { ...parts, admitted: shorter });
    throw error;
  }
}

function settleLive(
  deps: GatewayDeps,
  {
    admitted,
    live,
    gone,
    ttfbMs,
  }: { admitted: AdmittedRequest; live: StreamedAnswer; gone: boolean; ttfbMs: number | null },
): void {
  const { relay, attempt } = live;
  const usage = relay.usage ?? usageSettler(live.admitted.chat)(undefined, relay.output);
  attempt.end({ ...endOf(relay.fault, gone), usage });
  if (relay.fault !== undefined) admitted.exchange.log["error"] = relay.fault.code;
  spend(deps, admitted, attempt, {
    usage,
    status: 200,
    errorCode: relay.fault?.code ?? (gone ? STOPPED : null),
    ttfbMs,
  });
}

/** Failures that metrics name also after content. */
const LABELLED: ReadonlySet<FaultKind> = new Set(["call_invalid", "refused"]);

function endOf(fault: AnswerFault | undefined, gone: boolean): Pick<AttemptEnd, "outcome" | "label"> {
  if (fault !== undefined) {
    const kind = kindOfCode(fault.reported ?? fault.code);
    return { outcome: outcomeOfFault({ kind }), label: LABELLED.has(kind) ? kind : "interrupted" };
  }
  return gone ? { outcome: "unknown", label: "abandoned" } : { outcome: "ok", label: "ok" };
}
