// Types that the overview and its API share.

import type { LogRowView } from "./contract-log.ts";

/** Sums of requests. */
export interface OverviewSums {
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Input tokens that were read from a provider's cache. */
  readonly cached_tokens: number;
  /** The known cost; null where no price of the models is known. */
  readonly cost_usd: number | null;
}

/** The latency of answers in milliseconds; null where there were none. `first`: to the first byte. */
export interface Speed {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly first_p50_ms: number | null;
  readonly first_p95_ms: number | null;
}

/** Answer of `GET overview?span=` and, for all accounts, of `GET admin/overview?span=`. */
export interface OverviewView {
  /** The length of a slot. */
  readonly unit: "minute" | "hour" | "day";
  /** The start of each slot, the earliest first. The last slot is not over yet. */
  readonly starts: readonly string[];
  readonly total: OverviewSums;
  /** The preceding span of the same length; null where too little of it is kept. */
  readonly before: OverviewSums | null;
  readonly speed: Speed;
  /** Sums for each slot. */
  readonly speeds: readonly (Pick<Speed, "p50_ms" | "p95_ms"> | null)[];
  /** Sums by slot (its index in `starts`) and model. */
  readonly cells: readonly (OverviewSums & { readonly at: number; readonly model: string })[];
  /** The busiest models first; a very long list is cut off. */
  readonly models: readonly (OverviewSums & Speed & { readonly model: string })[];
  /** The same by key; `account` is "" in the overview of a single account. */
  readonly keys: readonly (OverviewSums &
    Speed & { readonly key_id: string; readonly key: string; readonly account: string })[];
  /** The latest requests that failed. */
  readonly failures: readonly LogRowView[];
  /** There were too many requests to count them all, so these are the latest. */
  readonly partial: boolean;
}
