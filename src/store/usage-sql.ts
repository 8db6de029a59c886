// The statements behind a flush of usage: one row per request and the roll-ups it belongs to, prepared once.
import type { Store } from "./open.ts";
import type { UsageDelta, UsageRecord } from "./usage-record.ts";

const SUMS = [
  "requests",
  "errors",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost_micros",
] as const;
const ADD = SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
const MARKS = SUMS.map(() => "?").join(", ");

/** A request id is the client's own text; the rest of a longer one is of no use in a table. */
const REQUEST_ID_CHARS = 200;

/** Writes usage. Call within one transaction. */
export function usageStatements(store: Store) {
  const { sqlite } = store;
  const accountExists = sqlite.query("SELECT 1 FROM accounts WHERE id = ?");
  const row = sqlite.query(
    `INSERT INTO usage (request_id, account_id, key_id, model, provider, upstream_model, endpoint, status, error_code,
       input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost_micros,
       latency_ms, ttfb_ms, stream, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const daily = sqlite.query(
    `INSERT INTO usage_daily (day, account_id, key_id, model, ${SUMS.join(", ")}) VALUES (?, ?, ?, ?, ${MARKS})
     ON CONFLICT DO UPDATE SET ${ADD}`,
  );
  const model = sqlite.query(
    `INSERT INTO usage_models (model, first_at, last_at, ${SUMS.join(", ")}) VALUES (?, ?, ?, ${MARKS})
     ON CONFLICT DO UPDATE SET ${ADD},
       first_at = MIN(first_at, excluded.first_at), last_at = MAX(last_at, excluded.last_at)`,
  );
  const account = sqlite.query(
    `INSERT INTO usage_accounts (account_id, ${SUMS.join(", ")}) VALUES (?, ${MARKS}) ON CONFLICT DO UPDATE SET ${ADD}`,
  );
  // Budget windows are fixed spans counted from the key's creation; the window a request falls in is brought up to date
  // with the first request after the last one's end. `SET` reads the old values of every column.
  const key = sqlite.query(
    `UPDATE api_keys SET
       last_used_at = MAX(COALESCE(last_used_at, 0), $at),
       spent_micros = CASE WHEN $at >= budget_window_start + budget_period_ms THEN $cost ELSE spent_micros + $cost END,
       budget_window_start = CASE WHEN $at >= budget_window_start + budget_period_ms
         THEN budget_window_start
           + CAST(($at - budget_window_start) / budget_period_ms AS INTEGER) * budget_period_ms
         ELSE budget_window_start END
     WHERE id = $id`,
  );
  return {
    /** Whether the account is still there; usage of a deleted one is counted for nobody. */
    accountExists: (id: string): boolean => accountExists.get(id) !== null,

    /** One request's own row. */
    insertRow(r: UsageRecord): void {
      row.run(
        r.requestId.slice(0, REQUEST_ID_CHARS),
        r.accountId,
        r.keyId,
        r.model,
        r.provider,
        r.upstreamModel,
        r.endpoint,
        r.status,
        r.errorCode,
        r.inputTokens,
        r.outputTokens,
        r.cachedTokens,
        r.cacheWriteTokens,
        r.reasoningTokens,
        r.estimated,
        r.costMicros,
        r.latencyMs,
        r.ttfbMs,
        r.stream,
        r.createdAtMs,
      );
    },

    /** Adds sums to every roll-up they belong to; `attributed` false counts them for nobody. */
    addSums(d: UsageDelta, attributed: boolean): void {
      const sums = [
        d.requests,
        d.errors,
        d.inputTokens,
        d.outputTokens,
        d.cachedTokens,
        d.cacheWriteTokens,
        d.reasoningTokens,
        d.costMicros,
      ];
      daily.run(d.day, attributed ? d.accountId : "", attributed ? d.keyId : "", d.model, ...sums);
      model.run(d.model, d.firstAtMs, d.lastAtMs, ...sums);
      if (!attributed) return;
      account.run(d.accountId, ...sums);
      key.run({ id: d.keyId, at: d.lastAtMs, cost: d.costMicros });
    },
  };
}
