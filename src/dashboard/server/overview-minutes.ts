// The latest hour minute by minute, summed from single rows, since stored sums are by the hour.

import type { Clock } from "../../base/clock.ts";
import { latencyBucket } from "../../store/usage/latency.ts";
import type { SlotLatency, SlotSums } from "../../store/usage/overview.ts";
import { isFailure, STOPPED } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { Figures, MinuteSlots } from "./overview-figures.ts";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/**
 * The limit of rows that are summed, and the number of rows after which other requests may run: about five
 * milliseconds.
 */
const ROWS_MAX = 50_000;
const CHUNK = 2500;
/** Rows are written in batches, so a row may be this much older than the row before it. */
const SLACK_MS = 10_000;

type Row = Awaited<ReturnType<UsageStore["recentRows"]>>[number];
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The figures of the latest sixty minutes; `partial`: they cover only the latest rows. */
export async function lastMinutes(
  { usage, clock }: { usage: Pick<UsageStore, "recentRows">; clock: Clock },
  accountId: string | undefined,
): Promise<{ slots: MinuteSlots; figures: Figures; partial: boolean }> {
  const to = Math.floor(clock.now() / MINUTE_MS);
  const slots: MinuteSlots = { unit: "minute", from: to - MINUTES + 1, to };
  const sinceMs = slots.from * MINUTE_MS;
  const adding = adder();
  let beforeId: number | undefined;
  for (let read = 0; read < ROWS_MAX; read += CHUNK) {
    const rows = await usage.recentRows({ accountId, beforeId, limit: CHUNK });
    for (const row of rows) if (row.createdAtMs >= sinceMs) adding.add(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK || last.createdAtMs < sinceMs - SLACK_MS)
      return { slots, figures: adding.figures(), partial: false };
    beforeId = last.id;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { slots, figures: adding.figures(), partial: true };
}

/** Sums rows by minute and model, and by minute and key. */
function adder() {
  const groups = {
    byModel: new Map<string, Mutable<SlotSums>>(),
    byKey: new Map<string, Mutable<SlotSums>>(),
    latencyByModel: new Map<string, Mutable<SlotLatency>>(),
    latencyByKey: new Map<string, Mutable<SlotLatency>>(),
  };
  const add = (row: Row) => {
    const start = Math.floor(row.createdAtMs / MINUTE_MS);
    addSums(groups.byModel, { start, name: row.model }, row);
    addSums(groups.byKey, { start, name: row.keyId }, row);
    addLatency(groups.latencyByModel, { start, name: row.model }, row);
    addLatency(groups.latencyByKey, { start, name: row.keyId }, row);
  };
  return {
    add,
    figures: (): Figures => ({
      byModel: [...groups.byModel.values()],
      byKey: [...groups.byKey.values()],
      latencyByModel: [...groups.latencyByModel.values()],
      latencyByKey: [...groups.latencyByKey.values()],
    }),
  };
}

interface Slot {
  readonly start: number;
  readonly name: string;
}

const ADDED = [
  "requests",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "costMicros",
] as const;

function addSums(groups: Map<string, Mutable<SlotSums>>, slot: Slot, row: Row): void {
  const name = `${slot.start} ${slot.name}`;
  let sums = groups.get(name);
  if (sums === undefined) {
    const none = Object.fromEntries(ADDED.map((one) => [one, 0])) as Record<(typeof ADDED)[number], number>;
    sums = { ...slot, ...none, errors: 0, unpriced: 0 };
    groups.set(name, sums);
  }
  for (const one of ADDED) sums[one] += row[one];
  if (isFailure(row)) sums.errors += row.requests;
  if (row.unpriced === true) sums.unpriced += 1;
}

function addLatency(groups: Map<string, Mutable<SlotLatency>>, slot: Slot, row: Row): void {
  const statusClass = row.errorCode === STOPPED ? 0 : Math.floor(row.status / 100);
  const count = (ms: number, what: "requests" | "firstBytes") => {
    const bucket = latencyBucket(ms);
    const name = `${slot.start} ${statusClass} ${bucket} ${slot.name}`;
    let found = groups.get(name);
    if (found === undefined) {
      found = { ...slot, statusClass, bucket, requests: 0, firstBytes: 0 };
      groups.set(name, found);
    }
    found[what] += row.requests;
  };
  count(row.latencyMs, "requests");
  if (row.ttfbMs !== null) count(row.ttfbMs, "firstBytes");
}
