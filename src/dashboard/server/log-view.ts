// Rows of the request log as pages and exports show them.

import { ANSWERED } from "../../base/attempt.ts";
import type { Clock } from "../../base/clock.ts";
import { isoTime } from "../../base/iso-time.ts";
import { knownCost, usesSomething } from "../../catalog/known-cost.ts";
import type { LogRow } from "../../store/usage/log.ts";
import { STOPPED } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { LogRowView, TryView } from "../contract-log.ts";
import { loggedEndpoint } from "./playground-paths.ts";

export interface LogViewDeps {
  readonly usage: Pick<UsageStore, "namesOfKeys">;
  readonly clock: Clock;
  /** Whether a price of the model is known. */
  isPriced(model: string): boolean;
}

/** The rows with the names of their keys and, where `named`, of their accounts. */
export async function logRowViews(
  { usage, clock, isPriced }: LogViewDeps,
  rows: readonly LogRow[],
  { named }: { named: boolean },
): Promise<LogRowView[]> {
  const nowMs = clock.now();
  const names = await usage.namesOfKeys([...new Set(rows.map(({ keyId }) => keyId))]);
  return rows.map((row): LogRowView => {
    const key = names.get(row.keyId);
    return {
      id: row.id,
      request_id: row.requestId,
      created_at: isoTime(row.createdAtMs),
      model: row.model,
      endpoint: loggedEndpoint(row.endpoint),
      key: key?.name ?? "",
      key_id: row.keyId,
      account: named ? (key?.username ?? "") : "",
      status: row.status,
      error: row.errorCode === STOPPED ? null : row.errorCode,
      stopped: row.errorCode === STOPPED,
      provider: row.provider,
      upstream_model: row.provider === "" ? "" : row.upstreamModel,
      asked_model: row.provider === "" ? row.upstreamModel : "",
      tries: triesOf(row),
      repeats: row.repeats,
      input_tokens: row.inputTokens,
      output_tokens: row.outputTokens,
      cached_tokens: row.cachedTokens,
      reasoning_tokens: row.reasoningTokens,
      estimated: row.estimated,
      cost_usd: knownCost(row, usesSomething(row), () => isPriced(row.model)),
      latency_ms: row.latencyMs,
      ttft_ms: row.ttfbMs,
      stream: row.stream,
      debugged: key?.debugUntilMs != null && key.debugUntilMs > nowMs,
    };
  });
}

function triesOf({ attempts, provider, upstreamModel, errorCode, latencyMs }: LogRow): TryView[] {
  // Rows of older versions do not record when attempts began, so the attempts are shown one after the other.
  const kept = attempts === null ? [] : (JSON.parse(attempts) as (Omit<TryView, "at"> & { at?: number })[]);
  let after = 0;
  const tries = kept.map((one): TryView => {
    const at = one.at ?? after;
    after = at + one.ms;
    return { ...one, at };
  });
  const failed = errorCode !== null && errorCode !== STOPPED;
  const isWhole = provider === "" || tries.some(({ kind }) => kind === ANSWERED) || (failed && tries.length > 0);
  if (isWhole) return tries;
  const kind = failed ? errorCode : ANSWERED;
  return [...tries, { provider, model: upstreamModel, kind, status: 0, ms: Math.max(0, latencyMs - after), at: after }];
}
