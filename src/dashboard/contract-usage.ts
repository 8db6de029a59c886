// Types that the dashboard and its API share for usage.

/** Sums of requests. */
export interface UsageSumsView {
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null where the price of a model is not known. */
  readonly cost_usd: number | null;
}

/** Answer of `GET admin/usage?days=` for all accounts. Days are UTC days, such as `2030-12-31`. */
export interface EverybodysUsage {
  /** Every day of the span, oldest first. */
  readonly days: readonly string[];
  readonly total: UsageSumsView;
  /** The preceding span of the same length. */
  readonly before: UsageSumsView;
  readonly cells: readonly (UsageSumsView & { readonly day: string; readonly model: string })[];
  readonly models: readonly (UsageSumsView & { readonly model: string })[];
  readonly latency: LatencyView;
}

/** Answer of `GET admin/usage/hours?hours=` for all accounts. Hours are UTC hours, such as `2030-12-31T23`. */
export interface HourlyReport {
  /** Every hour of the span, oldest first; the last one is not over yet. */
  readonly hours: readonly string[];
  readonly total: UsageSumsView;
  readonly cells: readonly (UsageSumsView & { readonly hour: string; readonly model: string })[];
  readonly latency: LatencyView;
}

/** Percentiles of the latency of answered requests in a span, in milliseconds; null where there were none. */
export interface LatencyView {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  /** Milliseconds to the first byte of streams. */
  readonly first_byte_p50_ms: number | null;
  readonly first_byte_p95_ms: number | null;
}
