// What the dashboard and its API say to each other about usage. Types only, as in contract.ts.

/** Sums of requests. */
export interface UsageSumsView {
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

/** Answer of `GET usage?days=`. Days are UTC days, as `2030-12-31`. */
export interface UsageReport {
  /** Every day of the span, oldest first. */
  readonly days: readonly string[];
  readonly total: UsageSumsView;
  /** The span of the same length before it. */
  readonly before: UsageSumsView;
  readonly cells: readonly (UsageSumsView & { readonly day: string; readonly model: string })[];
  readonly models: readonly (UsageSumsView & { readonly model: string })[];
  /** By the key's name; empty for a key that is gone. */
  readonly keys: readonly (UsageSumsView & { readonly key: string })[];
  readonly latency: LatencyView;
}

/** Answer of `GET admin/usage?days=`: everybody's. */
export type EverybodysUsage = Omit<UsageReport, "keys">;

/** Answer of `GET usage/hours?hours=` and, of everybody, `GET admin/usage/hours?hours=`. Hours are UTC hours, as `2030-12-31T23`. */
export interface HourlyReport {
  /** Every hour of the span, oldest first; the last one is not over yet. */
  readonly hours: readonly string[];
  readonly total: UsageSumsView;
  readonly cells: readonly (UsageSumsView & { readonly hour: string; readonly model: string })[];
  readonly latency: LatencyView;
}

/** Percentiles of the answered requests of a span, in milliseconds; null where there were none. */
export interface LatencyView {
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  /** To the first byte, of streams. */
  readonly first_byte_p50_ms: number | null;
  readonly first_byte_p99_ms: number | null;
}

/** One request, of `GET requests?before=`. */
export interface RequestView {
  readonly id: number;
  readonly request_id: string;
  readonly created_at: string;
  readonly model: string;
  readonly endpoint: string;
  readonly key: string;
  readonly status: number;
  readonly error: string | null;
  /** The client ended it, which is no error. */
  readonly stopped: boolean;
  /** The provider that answered, or failed last; empty where none was asked. */
  readonly provider: string;
  /** The routes that failed on the way, in order. */
  readonly attempts: readonly AttemptView[];
  /** How many requests share this row: failures beyond 60 a minute and key. */
  readonly repeats: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The provider reported no usage; the tokens were counted here. */
  readonly estimated: boolean;
  readonly cost_usd: number;
  readonly latency_ms: number;
  readonly stream: boolean;
}

/** A route that failed. */
export interface AttemptView {
  readonly provider: string;
  readonly model: string;
  readonly kind: string;
  /** HTTP status of the provider; 0 where there was none. */
  readonly status: number;
  readonly ms: number;
}
