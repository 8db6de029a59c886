// The figures of an overview: sums and latency within a span by time, model or key, for one account or all. Read from
// roll-ups, except for spans that are too short for them.

import { and, asc, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { usage, usageDaily, usageHourly, usageLatency } from "../schema.ts";
import type { UsageSums } from "./record.ts";
import { sumsInSlices } from "./slices.ts";

/** Whole hours or days since the epoch, both ends included. */
export interface SlotSpan {
  readonly unit: "hour" | "day";
  readonly from: number;
  readonly to: number;
}

/** Sums of one slot and one model or key. */
export type SlotSums = UsageSums & { readonly start: number; readonly name: string };

/** A bucket of the latency of one slot and one model or key. */
export interface SlotLatency {
  readonly start: number;
  readonly name: string;
  readonly statusClass: number;
  readonly bucket: number;
  readonly requests: number;
  readonly firstBytes: number;
}

/** The second property by which figures are grouped, besides time. */
export type GroupedBy = "model" | "keyId";

const SUM_NAMES = [
  "requests",
  "errors",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "costMicros",
  "unpriced",
] as const;

/** The primary key of the histograms of latency, from the slot on. */
export const latencyKeys = () => [
  usageLatency.start,
  usageLatency.accountId,
  usageLatency.keyId,
  usageLatency.model,
  usageLatency.statusClass,
  usageLatency.bucket,
];
/** The sums of a histogram of latency. */
export const latencySums = () => ({
  requests: sql<number>`SUM(${usageLatency.requests})`.mapWith(Number),
  firstBytes: sql<number>`SUM(${usageLatency.firstBytes})`.mapWith(Number),
});

/** Builds the verbs. */
export function usageOverview(store: Store) {
  return { ...sumsOfSlots(store), ...recentUsage(store) };
}

function sumsOfSlots(store: Store) {
  const { db } = store;
  return {
    /** Sums by slot and model or key, the earliest first. */
    async sumsBySlot({ unit, from, to }: SlotSpan, by: GroupedBy, accountId?: string): Promise<SlotSums[]> {
      const table = unit === "hour" ? usageHourly : usageDaily;
      const start = unit === "hour" ? usageHourly.hour : usageDaily.day;
      const sums = Object.fromEntries(
        SUM_NAMES.map((name) => [name, sql<number>`SUM(${table[name]})`.mapWith(Number)]),
      ) as { [Name in (typeof SUM_NAMES)[number]]: SQL<number> };
      const read = async (where: SQL | undefined): Promise<SlotSums[]> =>
        db
          .select({ start, name: table[by], ...sums })
          .from(table)
          .where(where)
          .groupBy(start, table[by])
          .orderBy(asc(start), asc(byBytes(table[by])))
          .all();
      if (accountId !== undefined)
        return read(and(gte(start, from), lt(start, to + 1), eq(table.accountId, accountId)));
      const keys = [start, table.accountId, table.keyId, table.model];
      return sumsInSlices(store, { table, keys, from, to, read, groups: ["start", "name"] });
    },

    /** Histograms of latency by slot and model or key, the earliest first. */
    async latencyBySlot({ unit, from, to }: SlotSpan, by: GroupedBy, accountId?: string): Promise<SlotLatency[]> {
      const { start, statusClass, bucket } = usageLatency;
      const name = usageLatency[by];
      const ofUnit = eq(usageLatency.unit, unit);
      const read = async (where: SQL | undefined): Promise<SlotLatency[]> =>
        db
          .select({
            start,
            name,
            statusClass,
            bucket,
            ...latencySums(),
          })
          .from(usageLatency)
          .where(where)
          .groupBy(start, name, statusClass, bucket)
          .orderBy(asc(start), asc(byBytes(name)), asc(statusClass), asc(bucket))
          .all();
      if (accountId !== undefined)
        return read(and(ofUnit, gte(start, from), lt(start, to + 1), eq(usageLatency.accountId, accountId)));
      const groups = ["start", "name", "statusClass", "bucket"] as const;
      return sumsInSlices(store, { table: usageLatency, keys: latencyKeys(), ofUnit, from, to, read, groups });
    },
  };
}

function recentUsage({ db }: Store) {
  return {
    /**
     * The columns of single rows that an overview of the latest minutes needs, newest first, before the row `beforeId`.
     */
    async recentRows({ accountId, beforeId, limit }: RecentRows) {
      return db
        .select({
          id: usage.id,
          createdAtMs: usage.createdAtMs,
          model: usage.model,
          keyId: usage.keyId,
          status: usage.status,
          errorCode: usage.errorCode,
          requests: usage.repeats,
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          cachedTokens: usage.cachedTokens,
          cacheWriteTokens: usage.cacheWriteTokens,
          reasoningTokens: usage.reasoningTokens,
          costMicros: usage.costMicros,
          unpriced: usage.unpriced,
          latencyMs: usage.latencyMs,
          ttfbMs: usage.ttfbMs,
        })
        .from(usage)
        .where(
          and(
            accountId === undefined ? undefined : eq(usage.accountId, accountId),
            beforeId === undefined ? undefined : lt(usage.id, beforeId),
          ),
        )
        .orderBy(desc(usage.id))
        .limit(limit)
        .all();
    },
  };
}

interface RecentRows {
  readonly accountId?: string | undefined;
  readonly beforeId?: number | undefined;
  readonly limit: number;
}
