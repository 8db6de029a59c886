// Judges the health of each listed model, at every interval:
// 1. If the breaker of every route is open, the model is unavailable.
// 2. With at least three requests in the last quarter of an hour, it is unavailable if half or more of them failed
// because of the provider, degraded if a tenth or more did, and otherwise healthy.
// 3. With less traffic, a one-token call decides about a chat model, if the operator pays for such calls: without an
// answer the model is unavailable, with one it is degraded if any breaker is open, and otherwise healthy.
// 4. Without such a call, a route is bad if its breaker is open, or if the provider's last model list failed or lacks
// the model. If all routes are bad, the model is unavailable; if some are, it is degraded. Otherwise it is healthy if a list
// has it or a request has succeeded, and unknown if nothing was seen of it.

import { atIntervals } from "../base/at-intervals.ts";
import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/iso-time.ts";

export type ModelStatus = "healthy" | "degraded" | "unavailable" | "unknown";

/** A model, as far as its health needs it. */
export interface WatchedModel {
  readonly id: string;
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
  /** Only chat models can be tested with a one-token call; absent: it is a chat model. */
  readonly kind?: string;
}

/** One finished request. */
export interface RequestOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  readonly latencyMs: number;
}

export interface ModelHealthDeps {
  readonly clock: Clock;
  /** The time between two rounds, read before each. */
  intervalMs(): number;
  /** The currently listed models. */
  models(): readonly WatchedModel[];
  /** A model's requests since a time, newest first, at most `limit`. */
  recent(model: string, options: { sinceMs: number; limit: number }): Promise<readonly RequestOutcome[]>;
  breakerOpen(provider: string, model: string): boolean;
  /**
   * The result of the provider's last listing for one of its models; undefined if it says nothing about the model.
   */
  listed(provider: string, model: string): boolean | undefined;
  /** Called when a scheduled round fails. */
  failed(cause: unknown): void;
  /** Called when a round has ended. */
  judged?(models: readonly { readonly id: string; readonly status: ModelStatus }[]): void;
  /** Makes a one-token call, if the operator chose `health.probe: chat`. True if the model answered. */
  readonly probe?: ((model: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

interface ModelHealthEntry {
  readonly id: string;
  readonly status: ModelStatus;
  readonly checkedAtMs: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

/** Keeps the health of all listed models. */
export interface ModelHealth {
  /** Judges now and at every interval. */
  start(): Promise<void>;
  /** Applies a changed interval. */
  reschedule(): void;
  /** Judges now; joins a running round. */
  refresh(): Promise<void>;
  stop(): void;
  /** The body of `GET /v1/status/models`. */
  view(): ModelHealthView;
}

export interface ModelHealthView {
  models: {
    id: string;
    status: ModelStatus;
    last_checked: string;
    latency_p50_ms?: number;
    latency_p99_ms?: number;
  }[];
  refreshed_at: string | null;
}

const WINDOW_MS = 15 * 60_000;
const REQUESTS_MAX = 200;
const REQUESTS_MIN = 3;
const DEGRADED_SHARE = 0.1;
const UNAVAILABLE_SHARE = 0.5;
const PROBE_TIMEOUT_MS = 30_000;
/** The limit of concurrent one-token calls, since they cost money and may be slow. */
const PROBES_AT_ONCE = 4;
/** The number of models that are judged before yielding to the event loop; each takes tens of microseconds. */
const BATCH = 50;

/** Creates a record of model health without judgements. */
export function createModelHealth(deps: ModelHealthDeps): ModelHealth {
  let entries: readonly ModelHealthEntry[] = [];
  let refreshedAtMs: number | undefined;
  let running: Promise<void> | undefined;
  let abort = new AbortController();

  async function judgeAll(): Promise<void> {
    const models = deps.models();
    const judged: ModelHealthEntry[] = [];
    const batch = deps.probe === undefined ? BATCH : PROBES_AT_ONCE;
    for (let at = 0; at < models.length && !abort.signal.aborted; at += batch) {
      judged.push(
        ...(await Promise.all(models.slice(at, at + batch).map((model) => judge(deps, model, abort.signal)))).map(
          sinceKnown,
        ),
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (abort.signal.aborted) return;
    entries = judged;
    refreshedAtMs = deps.clock.now();
    deps.judged?.(judged);
  }

  /** A model of which nothing is known was not checked now. */
  function sinceKnown(entry: ModelHealthEntry): ModelHealthEntry {
    const before = entry.status === "unknown" ? entries.find(({ id }) => id === entry.id) : undefined;
    return before === undefined ? entry : { ...entry, checkedAtMs: before.checkedAtMs };
  }

  function refresh(): Promise<void> {
    running ??= judgeAll().finally(() => {
      running = undefined;
    });
    return running;
  }

  // If a round fails (for example because the database is down), the last result stays, with its time.
  const timer = atIntervals(deps.intervalMs, () => void refresh().catch(deps.failed));

  return {
    start() {
      abort = new AbortController();
      timer.start();
      return refresh();
    },
    reschedule: timer.again,
    refresh,
    stop() {
      timer.stop();
      abort.abort();
    },
    view: () => ({
      models: entries.map(({ id, status, checkedAtMs, p50Ms, p99Ms }) => ({
        id,
        status,
        last_checked: isoTime(checkedAtMs),
        ...(p50Ms === undefined ? {} : { latency_p50_ms: p50Ms }),
        ...(p99Ms === undefined ? {} : { latency_p99_ms: p99Ms }),
      })),
      refreshed_at: refreshedAtMs === undefined ? null : isoTime(refreshedAtMs),
    }),
  };
}

async function judge(deps: ModelHealthDeps, model: WatchedModel, signal: AbortSignal): Promise<ModelHealthEntry> {
  const sinceMs = deps.clock.now() - WINDOW_MS;
  const outcomes = await deps.recent(model.id, { sinceMs, limit: REQUESTS_MAX });
  const telling = outcomes.filter((outcome) => outcome.status < 400 || providersFault(outcome));
  const failed = telling.filter(providersFault).length;
  const latencies = telling
    .filter((outcome) => !providersFault(outcome))
    .map((outcome) => outcome.latencyMs)
    .sort((a, b) => a - b);
  const traffic = telling.length >= REQUESTS_MIN ? failed / telling.length : undefined;
  return {
    id: model.id,
    status: await statusOf(deps, model, { traffic, answered: latencies.length > 0, signal }),
    checkedAtMs: deps.clock.now(),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

async function statusOf(
  deps: ModelHealthDeps,
  model: WatchedModel,
  seen: { traffic: number | undefined; answered: boolean; signal: AbortSignal },
): Promise<ModelStatus> {
  const bad = model.routes.filter((route) => deps.breakerOpen(route.provider, route.model)).length;
  if (bad === model.routes.length) return "unavailable";
  if (seen.traffic !== undefined) {
    if (seen.traffic >= UNAVAILABLE_SHARE) return "unavailable";
    return seen.traffic >= DEGRADED_SHARE ? "degraded" : "healthy";
  }
  if (deps.probe !== undefined && (model.kind ?? "chat") === "chat") {
    const answered = await probe(deps.probe, model.id, seen.signal);
    if (!answered) return "unavailable";
    return bad > 0 ? "degraded" : "healthy";
  }
  const unfit = model.routes.filter(
    (route) => deps.breakerOpen(route.provider, route.model) || deps.listed(route.provider, route.model) === false,
  ).length;
  if (unfit === model.routes.length) return "unavailable";
  if (unfit > 0) return "degraded";
  const isListed = model.routes.some((route) => deps.listed(route.provider, route.model) === true);
  return isListed || seen.answered ? "healthy" : "unknown";
}

async function probe(ask: NonNullable<ModelHealthDeps["probe"]>, model: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await ask(model, AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
  } catch {
    // A failure of any kind means that the model did not answer.
    return false;
  }
}

/**
 * Whether the provider refused the request or its answer is broken. The client's own errors and aborts do not count.
 */
function providersFault(outcome: RequestOutcome): boolean {
  return outcome.errorCode?.startsWith("provider_") === true || (outcome.errorCode === null && outcome.status >= 500);
}

/** Nearest rank; undefined if there are no values. */
function quantile(sorted: readonly number[], share: number): number | undefined {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  return value === undefined ? undefined : Math.round(value);
}
