// What the overview and its API say to each other. Types alone.

import type { LogRowView } from "./contract-log.ts";

/** Sums of requests. */
export interface OverviewSums {
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Of the input, read from a provider's cache. */
  readonly cached_tokens: number;
  /** What is known to have been spent; null where nothing is, as no price of the model is known. */
  readonly cost_usd: number | null;
}

/** How fast answers were, in milliseconds; null where there were none. `first`: to the first byte. */
export interface Speed {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly first_p50_ms: number | null;
  readonly first_p95_ms: number | null;
}

/** Answer of `GET overview?span=` and, of everybody, of `GET admin/overview?span=`. */
export interface OverviewView {
  /** How long a slot is. */
  readonly unit: "minute" | "hour" | "day";
  /** When each slot begins, the earliest first; the last one is not over yet. */
  readonly starts: readonly string[];
  readonly total: OverviewSums;
  /** The span of the same length before it; null where too little is kept. */
  readonly before: OverviewSums | null;
  readonly speed: Speed;
  /** Of each slot. */
  readonly speeds: readonly (Pick<Speed, "p50_ms" | "p95_ms"> | null)[];
  /** By slot (its place in `starts`) and model. */
  readonly cells: readonly (OverviewSums & { readonly at: number; readonly model: string })[];
  /** The busiest first; of very many the first. */
  readonly models: readonly (OverviewSums & Speed & { readonly model: string })[];
  /** The same by key; `account` is "" where the overview is one account's own. */
  readonly keys: readonly (OverviewSums &
    Speed & { readonly key_id: string; readonly key: string; readonly account: string })[];
  /** The latest that failed. */
  readonly failures: readonly LogRowView[];
  /** There were too many requests to count them all: these are the latest. */
  readonly partial: boolean;
}
