// Types that the pages and the API share for the agent runs of one's own account.

import type { LogRowView } from "./contract-log.ts";

/** A run, as `GET /v1/runs/{id}` describes it. */
export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly started_at: string | null;
  readonly last_at: string | null;
  readonly requests: number;
  readonly tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_share: number | null;
  readonly cost: number;
  readonly routes: readonly { readonly route: string; readonly calls: number; readonly cost: number }[];
  readonly dropped_reasoning: number;
  readonly dropped: readonly string[];
  readonly stopped: { readonly limit: "usd" | "requests" | "repeats"; readonly spent: number } | null;
}

/** A page of runs, those that began last first. `next`: the id before which the next page begins. */
export interface RunPage {
  readonly data: readonly RunRow[];
  readonly next: string | null;
}

/** A run with its calls, from the beginning. */
export interface RunDetails {
  readonly run: RunRow;
  readonly calls: readonly LogRowView[];
}
