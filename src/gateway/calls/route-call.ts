// One attempt of a request on one route. However the call ends, the provider's breaker, the metrics and the call's span are
// updated exactly once.

import type { FailedRoute } from "../../base/attempt.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { Usage } from "../../chat/event.ts";
import type { CallTransport, Exchange } from "../../http/exchange.ts";
import { genAiAnswerAttributes, genAiCallAttributes, genAiSpanName } from "../../telemetry/genai.ts";
import { type TraceSpan, traceHeaders } from "../../telemetry/span.ts";
import type { CallOutcome, Permit } from "../../upstream/breaker.ts";
import type { FaultKind } from "../../upstream/fault.ts";
import type { Provider } from "../../upstream/provider.ts";

/** How a request's calls are traced: only ids, counts and parameters are recorded. */
export interface CallTrace {
  /** The span of the request; undefined if tracing is off. */
  span: TraceSpan | undefined;
  /** The client's trace context, which is forwarded unchanged if tracing is off. */
  headers: Readonly<Record<string, string>>;
  stream: boolean;
  /** The request's log line. */
  log?: Record<string, unknown> | undefined;
  /** Collects the calls that failed. */
  failedRoutes?: FailedRoute[];
  /** Stands between the gateway and the providers; undefined for nearly all requests. */
  transport?: CallTransport | undefined;
  /** The operation, if it is not a chat. */
  operation?: string | undefined;
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
}

/** The trace of calls that are no chat and do not stream. */
export function callTraceOf(
  { headers }: Request,
  { span, log, failedRoutes, wire }: Pick<Exchange, "span" | "log" | "failedRoutes" | "wire">,
): CallTrace {
  return {
    span,
    log,
    headers: span === undefined ? traceHeaders(headers) : {},
    stream: false,
    failedRoutes,
    transport: wire?.transport,
  };
}

/** The outcome of a call. */
export interface AttemptEnd {
  outcome: CallOutcome;
  /** The outcome as a label of metrics. */
  label: "ok" | "abandoned" | "interrupted" | FaultKind;
  /** The HTTP status with which the upstream refused the call; absent or 0 if it did not. */
  status?: number;
  usage?: Usage | undefined;
  finishReason?: string | undefined;
}

export interface AttemptParts {
  route: ModelRoute;
  provider: Provider;
  permit: Permit;
  trace: CallTrace | undefined;
  /** Called when the call is over, for routes that are chosen by load. */
  ended?: (() => void) | undefined;
  /** Called when the call is over. */
  called: ((provider: string, label: string, seconds: number) => void) | undefined;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** One call of a request on one route. */
export class RouteAttempt {
  readonly route: ModelRoute;
  readonly provider: Provider;
  /** Headers with the trace context for the provider. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #parts: AttemptParts;
  readonly #span: TraceSpan | undefined;
  /** The start of the call by `performance.now()`. */
  readonly startedMs = performance.now();
  #over = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.route = parts.route;
    this.provider = parts.provider;
    this.#span = parts.trace?.span?.child(genAiSpanName(parts.route.model, parts.trace.operation), attributesOf(parts));
    this.headers = this.#span?.headers ?? parts.trace?.headers ?? NO_HEADERS;
  }

  /** For callers that only have to report the outcome. */
  get permit(): Permit {
    return { settle: (outcome) => this.end({ outcome, label: LABEL_OF[outcome] }) };
  }

  /** Records the outcome. Later calls do nothing. */
  end({ outcome, label, status = 0, usage, finishReason }: AttemptEnd): void {
    if (this.#over) return;
    this.#over = true;
    const { permit, called, ended, provider, route, trace } = this.#parts;
    ended?.();
    const ms = performance.now() - this.startedMs;
    permit.settle(outcome);
    called?.(provider.name, label, ms / 1000);
    if (label !== "ok" && label !== "abandoned") {
      trace?.failedRoutes?.push({
        provider: provider.name,
        model: route.model,
        kind: label,
        status,
        ms: Math.round(ms),
        startedMs: this.startedMs,
      });
    }
    const span = this.#span;
    if (span === undefined) return;
    span.set(
      genAiAnswerAttributes({
        ...usage,
        ...(finishReason === undefined ? {} : { finishReasons: [finishReason] }),
      }),
    );
    if (label !== "ok" && label !== "abandoned") span.fail(label);
    span.end();
  }
}

const LABEL_OF = { ok: "ok", failed: "unavailable", unreachable: "unavailable", unknown: "abandoned" } as const;

function attributesOf({ route, provider, trace }: AttemptParts) {
  return genAiCallAttributes({
    operation: trace?.operation,
    // Upstreams that only answer decisions use the name of a dialect, so their card's name is traced instead.
    dialect: trace?.operation === undefined ? provider.dialect.name : provider.card.name,
    model: route.model,
    baseUrl: provider.baseUrl,
    stream: trace?.stream === true,
    maxTokens: trace?.maxTokens,
    temperature: trace?.temperature,
    topP: trace?.topP,
  });
}
