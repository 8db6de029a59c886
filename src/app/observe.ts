// Observability: metrics, the outcome of every request, traces and the log line. Wiring only; they are independent.

import type { Clock } from "../base/clock.ts";
import { ERRORS } from "../base/errors.ts";
import { COMMIT, VERSION } from "../base/version.ts";
import type { ModelRoute } from "../catalog/models.ts";
import { environment } from "../config/load.ts";
import { unansweredRow } from "../gateway/usage/unanswered-row.ts";
import type { Exchange } from "../http/exchange.ts";
import { endSpan, logFields } from "../http/request-end.ts";
import { createOutcomes } from "../status/outcomes.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import type { Logger } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/span.ts";
import { loadTracer } from "../telemetry/trace.ts";
import { tracingFromEnv } from "../telemetry/trace-settings.ts";
import { UpstreamFault } from "../upstream/fault.ts";

export interface ObserverDeps {
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Whether the log may hold parts of prompts. */
  mayQuote(): boolean;
  /** Records the usage row of a request without one. */
  record(row: UsageRecord): void;
}

/** The label of models that an unprotected page must not name. */
const HIDDEN = "hidden";

/** A failure of a provider. */
export interface LastFault {
  /** A kind of `UpstreamFault`, or `model_list`. */
  readonly kind: string;
  /** HTTP status; 0 if there was none. */
  readonly status: number;
  readonly atMs: number;
  /** Whether a later call to it succeeded. */
  over: boolean;
}

/** Providers whose last failure is kept: more than anyone configures. */
const FAULTS_MAX = 1000;

export type Observer = ReturnType<typeof createObserver>;

/** The metrics of this program. They name no model before `nameModels` is called. */
export function createProgramMetrics(deps: {
  startedMs: number;
  /** Whether the page requires a token: then it may name every model. */
  guarded(): boolean;
}) {
  const named: ((model: string) => boolean)[] = [];
  const mayName = (model: string) => {
    if (deps.guarded()) return true;
    for (const has of named) if (has(model)) return true;
    return false;
  };
  const metrics = createMetrics({
    version: VERSION,
    commit: COMMIT,
    startedAtMs: deps.startedMs,
    modelLabel: (model) => (mayName(model) ? model : HIDDEN),
  });
  return {
    metrics,
    /** Models that `has` knows may be named too. */
    nameModels: (has: (model: string) => boolean) => void named.push(has),
    /** The result of a verb of the store, timed. */
    time: <T>(operation: string, work: () => Promise<T>): Promise<T> => time(metrics, operation, work),
  };
}

/** Records outcomes and the end of every request. */
export function createObserver({ clock, log, metrics, mayQuote, record }: ObserverDeps) {
  const outcomes = createOutcomes(clock);
  const lastFaults = new Map<string, LastFault>();
  const keepFault = (provider: string, kind: string, status: number) => {
    if (lastFaults.size >= FAULTS_MAX && !lastFaults.has(provider)) lastFaults.clear();
    lastFaults.set(provider, { kind, status, atMs: clock.now(), over: false });
  };
  const recovered = (provider: string) => {
    const last = lastFaults.get(provider);
    if (last !== undefined) last.over = true;
  };
  return {
    /** Each provider's last failure since the program started. */
    lastFaults: lastFaults as ReadonlyMap<string, LastFault>,
    metrics,
    outcomes,
    /** A provider answered correctly. */
    recovered,
    /** A call to a provider has ended. */
    called(provider: string, outcome: string, seconds: number): void {
      metrics.upstream(provider, outcome, seconds);
      if (outcome === "ok") recovered(provider);
    },
    /** A finished request: its log line, its metrics, its span, and its outcome for the model. */
    finished(exchange: Exchange, status: number): void {
      const tookMs = performance.now() - exchange.startedMs;
      const { error, model, client_gone: gone } = exchange.log;
      const errorCode = typeof error === "string" ? error : null;
      metrics.request(exchange.route, status, tookMs / 1000);
      if (errorCode !== null) metrics.error(errorCode in ERRORS ? errorCode : "other");
      // A client that left says nothing about the model.
      if (typeof model === "string" && gone !== true) outcomes.note(model, { status, errorCode, latencyMs: tookMs });
      if (!exchange.recorded && exchange.caller !== undefined)
        record(unansweredRow(exchange, { status, tookMs, nowMs: clock.now() }));
      endSpan(exchange, status, errorCode);
      log.request(logFields(exchange, status, tookMs), exchange.log);
    },
    /** A call to a provider failed. Its text about a refused request may quote the prompt. */
    failed({ provider, model }: ModelRoute, { kind, status, message, said }: UpstreamFault): void {
      keepFault(provider, kind, status);
      const quotes = (kind === "bad_request" || kind === "refused") && !mayQuote();
      const words = quotes ? {} : { error: message, ...(said.code === undefined ? {} : { code: said.code }) };
      log.info("a provider failed", { provider, model, kind, status, ...words });
    },
    /** A provider's model list could not be fetched; its previous models are kept. */
    discoveryFailed(provider: string, cause: unknown, kept: number): void {
      const { status = 0 } = cause as { readonly status?: number };
      keepFault(provider, status === 401 || status === 403 ? "auth" : "model_list", status);
      log.warn("a provider's model list could not be fetched", { provider, kept, error: listProblem(provider, cause) });
    },
    /** Records the figures of one upstream call. */
    spent(row: UsageRecord): void {
      metrics.tokens(row.model, row);
      if (row.costMicros > 0) metrics.costMicros(row.model, row.costMicros);
      if (row.stream && row.ttfbMs !== null) metrics.firstByte(row.endpoint, row.ttfbMs / 1000);
    },
  };
}

/** What is wrong with a provider's list, and what to look at. Only an error that nobody expected is logged with its stack. */
function listProblem(provider: string, cause: unknown): unknown {
  const { code, status = 0 } = cause as { readonly code?: unknown; readonly status?: number };
  if (status === 401 || status === 403) return `status ${status}: check providers.${provider}.api_key`;
  if (status === 404)
    return `status 404: check providers.${provider}.base_url, or set discover: false if it has no list`;
  if (cause instanceof UpstreamFault) return cause.message;
  if (cause instanceof Error && typeof code === "string") {
    return `${code}: is it running, and is providers.${provider}.base_url correct?`;
  }
  return cause;
}

async function time<T>(metrics: Metrics, operation: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  try {
    return await work();
  } finally {
    metrics.database(operation, (performance.now() - from) / 1000);
  }
}

/** The tracer, if the standard OTEL_* variables enable it; otherwise none of its code is loaded. */
export async function openTracer(log: Logger): Promise<Tracer | undefined> {
  const { settings, warnings } = tracingFromEnv(environment(), VERSION);
  for (const warning of warnings) log.warn(warning);
  return settings === undefined ? undefined : await loadTracer(settings, (message) => log.warn(message));
}
