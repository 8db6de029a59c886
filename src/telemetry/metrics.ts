// The metrics of the gateway, for GET /metrics. Label values come from limited sets: route patterns, error codes, names
// of providers and engines, and models by `modelLabel`. Metrics contain no prompt text, key, account or address.

import { PolicyCounts, type PolicyReading } from "./policy-counts.ts";
import { type GaugeReading, Registry } from "./registry.ts";

/** Token counts of one answer. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

export interface MetricsOptions {
  readonly version: string;
  readonly commit: string;
  readonly startedAtMs: number;
  /** The label of a model: an unprotected page must not name hidden ones. */
  readonly modelLabel?: (model: string) => string;
}

/** The counters of the hot path, and the page. */
export interface Metrics {
  /** A finished request: the route's pattern (never the raw path), its status, seconds from first to last byte. */
  request(route: string, status: number, seconds: number): void;
  /** An error sent to a client, in a body or in a stream. */
  error(code: string): void;
  /** Seconds to the first byte of a streamed answer. */
  firstByte(route: string, seconds: number): void;
  /** One attempt at a provider: `ok` or the fault's kind. */
  upstream(provider: string, outcome: string, seconds: number): void;
  /** Counts a failed attempt that was followed by another one. */
  retried(provider: string): void;
  tokens(model: string, counts: TokenCounts): void;
  costMicros(model: string, micros: number): void;
  /** Counts a request that was looked up among the kept answers. `savedMicros`: what a hit would have cost, if that is known. */
  cacheLooked(model: string, result: "hit" | "miss", savedMicros: number | undefined): void;
  /** Counts an answer that could not be looked up or kept: the request went on without. */
  cacheFailed(): void;
  /** Notes the size of all kept answers. */
  cacheSized(bytes: number): void;
  /** What the cache of answers and the guardrails did since the start. */
  policy(): PolicyReading;
  rateLimited(): void;
  /** What a guardrail did to a request: `denied`, `masked`, `noted` or `failed`, and how often. */
  guardrail(name: string, action: string, count: number): void;
  streamOpened(): void;
  streamClosed(): void;
  /** A store verb, such as `findLiveKey` or `flushUsage`. */
  database(operation: string, seconds: number): void;
  /** A query to a search engine: `ok`, or why it was useless. */
  searchEngine(engine: string, outcome: string, seconds: number): void;
  /** A value that is read for every page, such as breaker states and queue lengths. Reading it must be fast. */
  gauge(name: string, help: string, labels: readonly string[], read: () => GaugeReading): void;
  /** Prometheus text. */
  render(): string;
}

// A chat answer takes between milliseconds (the demo) and minutes.
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const FIRST_BYTE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const ENGINE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30];
const DATABASE_SECONDS = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 1];

/** Creates the metrics of a process. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const modelLabel = options.modelLabel ?? ((model) => model);
  const { requests, seconds, firstBytes, errors, rejected, guardrails, database } = ownSeries(registry);
  const { upstream, upstreamSeconds, retries, tokens, cost } = upstreamSeries(registry);
  const { engines, engineSeconds } = searchSeries(registry);
  const policy = new PolicyCounts();
  const cache = cacheSeries(registry, policy);
  const statusName = statusNamer();
  let openStreams = 0;
  registry.gauge("sallyport_open_streams", "Streamed answers in progress.", [], () => [[[], openStreams]]);
  addProcess(registry, options);

  return {
    request(route, status, took) {
      requests.get(route, statusName(status)).inc();
      seconds.get(route).observe(took);
    },
    error: (code) => errors.get(code).inc(),
    firstByte: (route, took) => firstBytes.get(route).observe(took),
    upstream(provider, outcome, took) {
      upstream.get(provider, outcome).inc();
      upstreamSeconds.get(provider).observe(took);
    },
    retried: (provider) => retries.get(provider).inc(),
    tokens(model, counts) {
      const label = modelLabel(model);
      tokens.get(label, "input").inc(counts.inputTokens);
      tokens.get(label, "output").inc(counts.outputTokens);
      if (counts.cachedTokens) tokens.get(label, "cached").inc(counts.cachedTokens);
      if (counts.cacheWriteTokens) tokens.get(label, "cache_write").inc(counts.cacheWriteTokens);
      if (counts.reasoningTokens) tokens.get(label, "reasoning").inc(counts.reasoningTokens);
    },
    costMicros: (model, micros) => cost.get(modelLabel(model)).inc(micros / 1e6),
    cacheLooked(model, result, savedMicros) {
      const label = modelLabel(model);
      cache.looked.get(label, result).inc();
      if (result === "hit" && savedMicros !== undefined) cache.saved.get(label).inc(savedMicros / 1e6);
      policy.looked(result, savedMicros);
    },
    cacheFailed() {
      cache.failures.inc();
      policy.failed();
    },
    cacheSized: (bytes) => policy.sized(bytes),
    policy: () => policy.reading(),
    rateLimited: () => rejected.inc(),
    guardrail(name, action, count) {
      guardrails.get(name, action).inc(count);
      policy.guarded(name, action, count);
    },
    streamOpened() {
      openStreams++;
    },
    streamClosed() {
      openStreams--;
    },
    database: (operation, took) => database.get(operation).observe(took),
    searchEngine(engine, outcome, took) {
      engines.get(engine, outcome).inc();
      engineSeconds.get(engine).observe(took);
    },
    gauge: (name, help, labels, read) => registry.gauge(name, help, labels, read),
    render: () => registry.render(),
  };
}

function ownSeries(registry: Registry) {
  return {
    requests: registry.counter("sallyport_requests_total", "Finished HTTP requests.", ["route", "status"]),
    seconds: registry.histogram(
      "sallyport_request_duration_seconds",
      "From the request to the last byte of its answer.",
      ["route"],
      REQUEST_SECONDS,
    ),
    firstBytes: registry.histogram(
      "sallyport_first_byte_seconds",
      "From the request to the first byte of a streamed answer.",
      ["route"],
      FIRST_BYTE_SECONDS,
    ),
    errors: registry.counter("sallyport_errors_total", "Errors sent to clients.", ["code"]),
    rejected: registry
      .counter("sallyport_rate_limited_total", "Requests refused because of their key's rate limit.", [])
      .get(),
    guardrails: registry.counter("sallyport_guardrails_total", "What guardrails found.", ["guardrail", "action"]),
    database: registry.histogram(
      "sallyport_database_seconds",
      "Duration of database work, on the request path and in the background.",
      ["operation"],
      DATABASE_SECONDS,
    ),
  };
}

function upstreamSeries(registry: Registry) {
  return {
    upstream: registry.counter("sallyport_upstream_requests_total", "Attempts at providers.", ["provider", "outcome"]),
    upstreamSeconds: registry.histogram(
      "sallyport_upstream_duration_seconds",
      "Duration of an attempt at a provider.",
      ["provider"],
      REQUEST_SECONDS,
    ),
    retries: registry.counter(
      "sallyport_upstream_retries_total",
      "Attempts that failed and were followed by another.",
      ["provider"],
    ),
    tokens: registry.counter(
      "sallyport_tokens_total",
      "Tokens. Those of cached, cache_write and reasoning are included in input and output.",
      ["model", "kind"],
    ),
    cost: registry.counter("sallyport_cost_usd_total", "Cost in US dollars, at the known prices.", ["model"]),
  };
}

function cacheSeries(registry: Registry, policy: PolicyCounts) {
  registry.gauge("sallyport_cache_bytes", "Size of the kept answers, when this node kept one last.", [], () =>
    policy.bytes === undefined ? [] : [[[], policy.bytes]],
  );
  return {
    failures: registry
      .counter("sallyport_cache_failures_total", "Answers that could not be looked up or kept.", [])
      .get(),
    looked: registry.counter(
      "sallyport_cache_requests_total",
      "Requests looked up among the kept answers: hit or miss.",
      ["model", "result"],
    ),
    saved: registry.counter(
      "sallyport_cache_saved_usd_total",
      "What the answers given again would have cost in US dollars, at the known prices.",
      ["model"],
    ),
  };
}

function searchSeries(registry: Registry) {
  return {
    engines: registry.counter("sallyport_search_engine_requests_total", "Queries to search engines.", [
      "engine",
      "outcome",
    ]),
    engineSeconds: registry.histogram(
      "sallyport_search_engine_duration_seconds",
      "Duration of a query to a search engine.",
      ["engine"],
      ENGINE_SECONDS,
    ),
  };
}

/** One string per status, made once. */
function statusNamer(): (status: number) => string {
  const names = new Map<number, string>();
  return (status) => {
    let name = names.get(status);
    if (name === undefined) {
      name = status >= 100 && status <= 599 ? String(status) : "other";
      if (names.size < 600) names.set(status, name);
    }
    return name;
  };
}

/** The usual names, which ready-made dashboards expect. */
function addProcess(registry: Registry, options: MetricsOptions): void {
  registry.gauge(
    "sallyport_build_info",
    "Always 1. The labels contain the version and the commit.",
    ["version", "commit"],
    () => [[[options.version, options.commit], 1]],
  );
  registry.gauge("process_start_time_seconds", "Start of the process since the epoch.", [], () => [
    [[], options.startedAtMs / 1000],
  ]);
  registry.gauge("process_resident_memory_bytes", "Memory in use.", [], () => [[[], process.memoryUsage.rss()]]);
  registry.counted("process_cpu_seconds_total", "CPU time used.", [], () => {
    const { user, system } = process.cpuUsage();
    return [[[], (user + system) / 1e6]];
  });
}

const BREAKER_STATES = ["closed", "half_open", "open"];

/** Breaker states as a gauge: 1 for a provider's current state, 0 for the others. */
export function breakerReading(breakers: Iterable<readonly [string, { readonly state: string }]>): GaugeReading {
  return [...breakers].flatMap(([provider, { state }]) =>
    BREAKER_STATES.map((name) => [[provider, name], name === state ? 1 : 0] as const),
  );
}
