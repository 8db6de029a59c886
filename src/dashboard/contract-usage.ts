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

/** What the usage page groups by. Days are UTC days. */
export const USAGE_DIMENSIONS = ["day", "hour", "model", "key", "project", "tag"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Sums of the usage page. */
export interface UsageReportSums extends UsageSumsView {
  readonly cached_tokens: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
}

/** Sums of one day, hour, model, key, project or tag. */
export interface UsageReportRow extends UsageReportSums {
  /** The day, the start of the hour, the model, the tag, or an id; null for what is in no group. */
  readonly id: string | null;
  /** The name of a key or a project; "" where it is not known, or where the id is the name. */
  readonly name: string;
  /** The account of a key, where there are those of several accounts. */
  readonly account: string;
}

/** Answer of `GET usage-report`, and of `GET admin/usage-report` for all accounts. `?format=csv` downloads it. */
export interface UsageReportView {
  readonly by: UsageDimension;
  /** The whole hours or UTC days that the sums cover. */
  readonly from: string;
  readonly to: string;
  readonly has_more: boolean;
  readonly total: UsageReportSums;
  readonly rows: readonly UsageReportRow[];
}
