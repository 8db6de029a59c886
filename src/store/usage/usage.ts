// Reads usage. Totals and rankings come from roll-ups and cost the same for a thousand rows as for ten million. Old rows are
// deleted in small steps without loading them; their sums stay.

import { and, asc, desc, eq, gt, gte, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { usage, usageAccounts, usageDaily, usageHourly, usageLatency, usageModels } from "../schema.ts";
import { requestLog } from "./log.ts";
import { latencyKeys, latencySums, usageOverview } from "./overview.ts";
import type { UsageSums } from "./record.ts";
import { usageReport } from "./report.ts";
import { sumsInSlices } from "./slices.ts";
import { writingUsage } from "./sql.ts";

/** Tokens over all time and all models. */
export interface TokenTotals {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Times of the first and the last counted request; null if there was none. */
  readonly sinceMs: number | null;
  readonly updatedAtMs: number | null;
}

/** Verbs over usage. */
export type UsageStore = ReturnType<typeof usageStore>;

/** The number of rows deleted in one transaction, which takes a few milliseconds. */
const DELETE_BATCH = 500;

const sumColumns = () => ({
  requests: usageDaily.requests,
  errors: usageDaily.errors,
  inputTokens: usageDaily.inputTokens,
  outputTokens: usageDaily.outputTokens,
  cachedTokens: usageDaily.cachedTokens,
  cacheWriteTokens: usageDaily.cacheWriteTokens,
  reasoningTokens: usageDaily.reasoningTokens,
  costMicros: usageDaily.costMicros,
  unpriced: usageDaily.unpriced,
});
type Sum = keyof ReturnType<typeof sumColumns>;
type Sums = { [Name in Sum]: SQL<number> };

/** Aggregates of the same columns. */
const summed = lazily(
  () =>
    Object.fromEntries(
      Object.entries(sumColumns()).map(([name, column]) => [name, sql<number>`SUM(${column})`.mapWith(Number)]),
    ) as Sums,
);

/** The same for the hourly roll-up. */
const summedHourly = lazily(
  () =>
    Object.fromEntries(
      Object.keys(sumColumns()).map((name) => [name, sql<number>`SUM(${usageHourly[name as Sum]})`.mapWith(Number)]),
    ) as Sums,
);

/** Whole UTC days since the epoch, inclusive. */
interface DayRange {
  readonly fromDay: number;
  readonly toDay: number;
}

const within = (accountId: string, { fromDay, toDay }: DayRange) =>
  and(eq(usageDaily.accountId, accountId), gte(usageDaily.day, fromDay), lt(usageDaily.day, toDay + 1));

/** Builds the verbs. */
export function usageStore(store: Store) {
  return {
    ...totalsOfAllTime(store),
    ...sumsOfAccounts(store),
    ...sumsOfModels(store),
    ...requestLog(store),
    ...usageOverview(store),
    ...usageReport(store),
    ...deletingUsage(store),
    ...writingUsage(store),
  };
}

function totalsOfAllTime({ db, statement }: Store) {
  const totals = statement<{ requests: number; input: number; output: number; since: number; last: number }>(
    `SELECT SUM(requests) AS requests, SUM(input_tokens) AS input, SUM(output_tokens) AS output,
       MIN(first_at) AS since, MAX(last_at) AS last FROM usage_models`,
  );
  const modelTokens = () => sql<number>`${usageModels.inputTokens} + ${usageModels.outputTokens}`;
  const answered = () => sql<number>`${usageModels.requests} - ${usageModels.errors}`.mapWith(Number);
  const accountTokens = () => sql<number>`${usageAccounts.inputTokens} + ${usageAccounts.outputTokens}`;
  return {
    /** Tokens over all time, including deleted accounts'. */
    async tokenTotals(): Promise<TokenTotals> {
      const row = await totals.get();
      return {
        requests: row?.requests ?? 0,
        inputTokens: row?.input ?? 0,
        outputTokens: row?.output ?? 0,
        sinceMs: row?.since ?? null,
        updatedAtMs: row?.last ?? null,
      };
    },

    /** Models by tokens, descending, with the requests that were answered; including deleted accounts'. */
    async totalsByModel(limit = 100): Promise<{ model: string; totalTokens: number; requests: number }[]> {
      return db
        .select({ model: usageModels.model, totalTokens: modelTokens(), requests: answered() })
        .from(usageModels)
        .where(gt(modelTokens(), 0))
        .orderBy(desc(modelTokens()), asc(byBytes(usageModels.model)))
        .limit(limit)
        .all();
    },

    /** Accounts by tokens, descending. */
    async topAccounts(limit = 10): Promise<{ accountId: string; totalTokens: number }[]> {
      return db
        .select({ accountId: usageAccounts.accountId, totalTokens: accountTokens() })
        .from(usageAccounts)
        .orderBy(desc(accountTokens()), asc(byBytes(usageAccounts.accountId)))
        .limit(limit)
        .all();
    },

    /** The all-time tokens of these accounts; accounts without usage are left out. */
    async tokensOf(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rows = await db
        .select({ id: usageAccounts.accountId, tokens: accountTokens() })
        .from(usageAccounts)
        .where(inArray(usageAccounts.accountId, [...accountIds]))
        .all();
      return new Map(rows.map(({ id, tokens }) => [id, tokens]));
    },
  };
}

function sumsOfAccounts({ db }: Store) {
  return {
    /** What a key of an account has spent, by day, oldest day first; days without costs are left out. */
    async spendingByDay(accountId: string, keyId: string): Promise<{ day: number; costMicros: number }[]> {
      const ofKey = and(eq(usageDaily.accountId, accountId), eq(usageDaily.keyId, keyId), gt(usageDaily.costMicros, 0));
      return db
        .select({ day: usageDaily.day, costMicros: summed().costMicros })
        .from(usageDaily)
        .where(ofKey)
        .groupBy(usageDaily.day)
        .orderBy(asc(usageDaily.day))
        .all();
    },

    /** An account's sums by day and model, oldest day first. */
    async sumsByDayAndModel(
      accountId: string,
      range: DayRange,
    ): Promise<(UsageSums & { day: number; model: string })[]> {
      return db
        .select({ day: usageDaily.day, model: usageDaily.model, ...summed() })
        .from(usageDaily)
        .where(within(accountId, range))
        .groupBy(usageDaily.day, usageDaily.model)
        .orderBy(asc(usageDaily.day), asc(byBytes(usageDaily.model)))
        .all();
    },
  };
}

function sumsOfModels(store: Store) {
  const { db } = store;
  return {
    /** Histograms of latency by model and class of status, for one account or all; bounds inclusive. */
    async latencyByModel(
      span: { readonly unit: "hour" | "day"; readonly from: number; readonly to: number },
      accountId?: string,
    ): Promise<{ model: string; statusClass: number; bucket: number; requests: number; firstBytes: number }[]> {
      const { model, statusClass, bucket, unit, start } = usageLatency;
      const ofUnit = eq(unit, span.unit);
      const read = async (where: SQL | undefined) =>
        db
          .select({
            model,
            statusClass,
            bucket,
            ...latencySums(),
          })
          .from(usageLatency)
          .where(where)
          .groupBy(model, statusClass, bucket)
          .orderBy(asc(byBytes(usageLatency.model)), asc(statusClass), asc(bucket))
          .all();
      if (accountId !== undefined)
        return read(and(ofUnit, gte(start, span.from), lt(start, span.to + 1), eq(usageLatency.accountId, accountId)));
      const groups = ["model", "statusClass", "bucket"] as const;
      return sumsInSlices(store, { table: usageLatency, keys: latencyKeys(), ofUnit, ...span, read, groups });
    },

    /** All accounts' sums of one UTC hour by model, including deleted accounts'. */
    async sumsOfHour(hour: number): Promise<(UsageSums & { model: string })[]> {
      const { hour: at, accountId, keyId, model } = usageHourly;
      const read = async (where: SQL | undefined) =>
        db
          .select({ model, ...summedHourly() })
          .from(usageHourly)
          .where(where)
          .groupBy(model)
          .orderBy(asc(byBytes(model)))
          .all();
      const keys = [at, accountId, keyId, model];
      return sumsInSlices(store, { table: usageHourly, keys, from: hour, to: hour, read, groups: ["model"] });
    },

    /** All accounts' sums of one UTC day by model, including deleted accounts'. */
    async sumsOfDay(day: number): Promise<(UsageSums & { model: string })[]> {
      const { day: at, accountId, keyId, model } = usageDaily;
      const read = async (where: SQL | undefined) =>
        db
          .select({ model, ...summed() })
          .from(usageDaily)
          .where(where)
          .groupBy(model)
          .orderBy(asc(byBytes(model)))
          .all();
      const keys = [at, accountId, keyId, model];
      return sumsInSlices(store, { table: usageDaily, keys, from: day, to: day, read, groups: ["model"] });
    },
  };
}

function deletingUsage({ db, statement, clock }: Store) {
  /** Deletes up to a number of a table's rows, chosen by its primary key, so that each statement takes milliseconds. */
  const deleteSome = (table: string, key: string, where: string) =>
    statement(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ?)`);
  const latencyKey = "unit, start, account_id, key_id, model, status_class, bucket";
  const deleteHourly = deleteSome("usage_hourly", "hour, account_id, key_id, model", "hour < ?");
  const deleteDaily = deleteSome("usage_daily", "day, account_id, key_id, model", "day < ?");
  const labelKey = "unit, start, kind, name, account_id, key_id, model";
  const deleteLabels = deleteSome("usage_labels", labelKey, "unit = ? AND start < ?");
  const deleteClasses = deleteSome("usage_classes", "day, provider, model, service, class", "day < ?");
  const deleteLatencyHours = deleteSome("usage_latency", latencyKey, "unit = 'hour' AND start < ?");
  const deleteLatencyDays = deleteSome("usage_latency", latencyKey, "unit = 'day' AND start < ?");
  // Rows are inserted as their requests end, so the oldest have the smallest ids. A row of a time to come, from before a clock was
  // set right, is passed over.
  const deleteOld = statement("DELETE FROM usage WHERE id <= ? AND created_at < ?");
  const oldest = (limit: number, nowMs: number) =>
    db.select({ id: usage.id }).from(usage).where(lte(usage.createdAtMs, nowMs)).orderBy(asc(usage.id)).limit(limit);

  return {
    /** Deletes up to `limit` hourly sums, as many of labels and as many histograms before that hour; returns how many rows. */
    async deleteHourlyBefore(hour: number, limit = DELETE_BATCH): Promise<number> {
      const rows = (await deleteHourly.run([hour, limit])).changes;
      const labels = (await deleteLabels.run(["hour", hour, limit])).changes;
      return rows + labels + (await deleteLatencyHours.run([hour, limit])).changes;
    },

    /** Deletes up to `limit` daily sums, as many of labels and as many of classes before that day; returns how many. */
    async deleteDailyBefore(day: number, limit = DELETE_BATCH): Promise<number> {
      const rows = (await deleteDaily.run([day, limit])).changes;
      const labels = (await deleteLabels.run(["day", day, limit])).changes;
      return rows + labels + (await deleteClasses.run([day, limit])).changes;
    },

    /** Deletes up to `limit` daily histograms before that day; returns how many rows. */
    async deleteLatencyBefore(day: number, limit = DELETE_BATCH): Promise<number> {
      return (await deleteLatencyDays.run([day, limit])).changes;
    },

    /** Deletes up to `limit` rows created before a time; returns how many. Their sums stay in the roll-ups. */
    async deleteRowsBefore(timeMs: number, limit = DELETE_BATCH): Promise<number> {
      const last = (await oldest(limit, Math.max(clock.now(), timeMs)).all()).at(-1);
      return last === undefined ? 0 : (await deleteOld.run([last.id, timeMs])).changes;
    },
  };
}
