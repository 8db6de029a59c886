// An agent run as its owner sees it.

import { isoTime } from "../../../base/iso-time.ts";
import type { AgentRun, RunRoute, RunStore } from "../../../store/work/runs.ts";

const MICROS_PER_USD = 1_000_000;

/** The JSON of a run. */
export interface RunView {
  readonly id: string;
  /** What its client calls it. */
  readonly name: string;
  readonly key_id: string;
  readonly started_at: string | null;
  readonly last_at: string | null;
  readonly requests: number;
  readonly tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The part of the input that was read from a cache; null without input. */
  readonly cached_share: number | null;
  /** US dollars. */
  readonly cost: number;
  readonly routes: readonly { readonly route: string; readonly calls: number; readonly cost: number }[];
  readonly dropped_reasoning: number;
  readonly dropped: readonly string[];
  /** The limit at which it is stopped; null while it goes on. */
  readonly stopped: { readonly limit: "usd" | "requests" | "repeats"; readonly spent: number } | null;
}

/** The views of runs. */
export async function runViews(store: Pick<RunStore, "routesOfRuns">, runs: readonly AgentRun[]): Promise<RunView[]> {
  const routes = await store.routesOfRuns(runs.map(({ id }) => id));
  return runs.map((run) => runView(run, routes.get(run.id) ?? []));
}

function runView(run: AgentRun, routes: readonly RunRoute[]): RunView {
  const { id, name, inputTokens, outputTokens, cachedTokens, stopped, stoppedSpent } = run;
  const spent = stoppedSpent ?? 0;
  return {
    ...{ id, name, key_id: run.keyId, started_at: isoTime(run.startedAtMs), last_at: isoTime(run.lastAtMs) },
    requests: run.requests,
    tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cached_share: inputTokens === 0 ? null : Math.round((cachedTokens / inputTokens) * 10_000) / 10_000,
    cost: run.costMicros / MICROS_PER_USD,
    routes: routes.map(({ provider, model, calls, costMicros }) => ({
      route: `${provider}/${model}`,
      calls,
      cost: costMicros / MICROS_PER_USD,
    })),
    dropped_reasoning: run.droppedReasoning,
    dropped: run.dropped ?? [],
    stopped: stopped === null ? null : { limit: stopped, spent: stopped === "usd" ? spent / MICROS_PER_USD : spent },
  };
}
