// The statements behind a flush of usage: one row per request and the roll-ups it belongs to, prepared once.

import type { Store } from "../engine/open.ts";
import { requireStorable, requireWhole } from "../values.ts";
import { AMOUNTS, dayOfHour, TEXT_COLUMNS, triesOf, type UsageDelta, type UsageRecord } from "./record.ts";

/** The columns that every roll-up of usage adds up. */
export const SUMS = [
  "requests",
  "errors",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost_micros",
] as const;
/** What adds a row's sums to those of the row that is there already. */
const adds = (table: string) => SUMS.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");
const MARKS = SUMS.map(() => "?").join(", ");

/** A request id is the client's own text; the rest of a longer one is of no use in a table. */
const REQUEST_ID_CHARS = 200;

/** A row of the table: the record, the id made for it, and how many requests it stands for. */
export interface UsageRow {
  readonly record: UsageRecord;
  readonly uid: string;
  readonly repeats: number;
}

/** Usage that is written together. */
export interface UsageBatch {
  readonly rows: readonly UsageRow[];
  /** Sums to add to the roll-ups, those of the rows among them. */
  readonly sums: readonly UsageDelta[];
}

/** Builds the verb. */
export function writingUsage(store: Store) {
  const statements = usageStatements(store);
  return {
    /**
     * Writes a batch, all of it or nothing. Usage of an account that is gone has no rows and is counted without an
     * account.
     */
    async writeUsage({ rows, sums }: UsageBatch): Promise<void> {
      const known = new Map<string, boolean>();
      const isKnown = (accountId: string): boolean => {
        let answer = known.get(accountId);
        if (answer === undefined) {
          answer = accountId !== "" && statements.accountExists(accountId);
          known.set(accountId, answer);
        }
        return answer;
      };
      for (const { record } of rows) requireKeepable(record);
      for (const { lastAtMs, firstAtMs, costMicros } of sums) [lastAtMs, firstAtMs, costMicros].forEach(requireWhole);
      store.transaction(() => {
        for (const row of rows) if (isKnown(row.record.accountId)) statements.insertRow(row);
        for (const delta of sums) statements.addSums(delta, isKnown(delta.accountId));
      });
    },
  };
}

/** Throws TypeError unless every engine keeps the record as it is. */
function requireKeepable(record: UsageRecord): void {
  for (const name of AMOUNTS) requireWhole(record[name] ?? 0);
  requireStorable(Object.fromEntries(TEXT_COLUMNS.map((name) => [name, record[name]])));
}

/** Writes usage. Call within one transaction. */
function usageStatements(store: Store) {
  const accountExists = store.sqlite.query("SELECT 1 FROM accounts WHERE id = ?");
  const addToRollups = rollupStatements(store);
  const addToTotals = totalStatements(store);
  const spend = spendStatements(store);
  return {
    /** Whether the account is still there; usage of a deleted one is counted without an account. */
    accountExists: (id: string): boolean => accountExists.get(id) !== null,

    insertRow: rowStatement(store),

    /** Adds sums to every roll-up they belong to; `attributed` false counts them without an account. */
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
      addToRollups(d, attributed ? [d.accountId, d.keyId, d.model] : ["", "", d.model], sums);
      addToTotals(d, attributed, sums);
      if (attributed) spend(d);
    },
  };
}

function rowStatement({ sqlite }: Store) {
  const row = sqlite.query(
    `INSERT INTO usage (request_id, account_id, key_id, model, provider, upstream_model, endpoint, status, error_code,
       input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost_micros,
       latency_ms, ttfb_ms, stream, created_at, uid, attempts, repeats)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (uid) DO UPDATE SET repeats = usage.repeats + excluded.repeats`,
  );
  /** A row; one whose id is there already adds its repeats to it. */
  return ({ record: r, uid, repeats }: UsageRow): void => {
    const tries = triesOf(r);
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
      uid,
      tries === undefined ? null : JSON.stringify(tries),
      repeats,
    );
  };
}

function rollupStatements({ sqlite }: Store) {
  const daily = sqlite.query(
    `INSERT INTO usage_daily (day, account_id, key_id, model, ${SUMS.join(", ")}) VALUES (?, ?, ?, ?, ${MARKS})
     ON CONFLICT (day, account_id, key_id, model) DO UPDATE SET ${adds("usage_daily")}`,
  );
  const hourly = sqlite.query(
    `INSERT INTO usage_hourly (hour, account_id, key_id, model, ${SUMS.join(", ")}) VALUES (?, ?, ?, ?, ${MARKS})
     ON CONFLICT (hour, account_id, key_id, model) DO UPDATE SET ${adds("usage_hourly")}`,
  );
  const latency = sqlite.query(
    `INSERT INTO usage_latency (unit, start, account_id, key_id, model, status_class, bucket, requests, first_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (unit, start, account_id, key_id, model, status_class, bucket)
     DO UPDATE SET requests = usage_latency.requests + excluded.requests,
       first_bytes = usage_latency.first_bytes + excluded.first_bytes`,
  );
  return (d: UsageDelta, whose: readonly string[], sums: readonly number[]): void => {
    const day = dayOfHour(d.hour);
    daily.run(day, ...whose, ...sums);
    hourly.run(d.hour, ...whose, ...sums);
    for (const { statusClass, bucket, requests, firstBytes } of d.latency.values()) {
      latency.run("hour", d.hour, ...whose, statusClass, bucket, requests, firstBytes);
      latency.run("day", day, ...whose, statusClass, bucket, requests, firstBytes);
    }
  };
}

function totalStatements({ sqlite }: Store) {
  const model = sqlite.query(
    `INSERT INTO usage_models (model, first_at, last_at, ${SUMS.join(", ")}) VALUES (?, ?, ?, ${MARKS})
     ON CONFLICT (model) DO UPDATE SET ${adds("usage_models")},
       first_at = CASE WHEN excluded.first_at < usage_models.first_at THEN excluded.first_at ELSE usage_models.first_at END,
       last_at = CASE WHEN excluded.last_at > usage_models.last_at THEN excluded.last_at ELSE usage_models.last_at END`,
  );
  const account = sqlite.query(
    `INSERT INTO usage_accounts (account_id, ${SUMS.join(", ")}) VALUES (?, ${MARKS}) ON CONFLICT (account_id) DO UPDATE SET ${adds("usage_accounts")}`,
  );
  return (d: UsageDelta, attributed: boolean, sums: readonly number[]): void => {
    // Public statistics are about models; web tools and requests that named none are not part of them.
    if (d.model !== "") model.run(d.model, d.firstAtMs, d.lastAtMs, ...sums);
    if (attributed) account.run(d.accountId, ...sums);
  };
}

function spendStatements({ sqlite }: Store) {
  // Budget windows are fixed spans counted from when the budget was set; the window a request falls in is brought up to date
  // with the first request after the last one's end. `SET` reads the old values of every column. The cast makes the division
  // one of whole numbers: a number of JavaScript is bound as a double.
  const key = sqlite.query(
    `UPDATE api_keys SET
       last_used_at = CASE WHEN last_used_at > $at THEN last_used_at ELSE $at END,
       spent_micros = CASE WHEN $at >= budget_window_start + budget_period_ms THEN $cost ELSE spent_micros + $cost END,
       budget_window_start = CASE WHEN $at >= budget_window_start + budget_period_ms
         THEN budget_window_start
           + (CAST($at AS BIGINT) - budget_window_start) / budget_period_ms * budget_period_ms
         ELSE budget_window_start END
     WHERE id = $id`,
  );
  const accountBudget = sqlite.query(
    `UPDATE account_budgets SET
       spent_micros = CASE WHEN $at >= window_start + period_ms THEN $cost ELSE spent_micros + $cost END,
       window_start = CASE WHEN $at >= window_start + period_ms
         THEN window_start + (CAST($at AS BIGINT) - window_start) / period_ms * period_ms
         ELSE window_start END
     WHERE account_id = $id`,
  );
  return (d: UsageDelta): void => {
    key.run({ id: d.keyId, at: d.lastAtMs, cost: d.costMicros });
    if (d.costMicros > 0) accountBudget.run({ id: d.accountId, at: d.lastAtMs, cost: d.costMicros });
  };
}
