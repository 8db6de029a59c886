// Converts the figures of a span into the form that the overview shows.

import { isoTime } from "../../base/iso-time.ts";
import { knownCost } from "../../catalog/known-cost.ts";
import { percentileMs } from "../../store/usage/latency.ts";
import type { SlotLatency, SlotSpan, SlotSums } from "../../store/usage/overview.ts";
import type { LogRowView } from "../contract-log.ts";
import type { OverviewSums, OverviewView, Speed } from "../contract-overview.ts";
import type { Figures, MinuteSlots } from "./overview-figures.ts";

interface Shown {
  readonly before?: Figures;
  readonly partial?: boolean;
  readonly failures: readonly LogRowView[];
  readonly names: ReadonlyMap<string, { readonly name: string; readonly username: string }>;
  /** Whether the names of the keys' accounts are included. */
  readonly named: boolean;
  isPriced(model: string): boolean;
}

const SLOT_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
/** Latency is measured on this class of status only, since failed and cancelled requests would distort it. */
const ANSWERED = 2;
/** The limit of rows in a table. */
const LINES_MAX = 50;

/** The answer of the overview. */
export function overviewView(slots: SlotSpan | MinuteSlots, now: Figures, shown: Shown): OverviewView {
  const { unit, from, to } = slots;
  const length = to - from + 1;
  const isPriced = (rows: readonly SlotSums[]) => rows.every(({ name }) => name === "" || shown.isPriced(name));
  const sums = (rows: readonly SlotSums[], priced: boolean) => sumsOf(rows, priced);
  const speeds = Map.groupBy(now.latencyByModel, ({ start }) => start);
  const models = busiest(now.byModel);
  const keys = busiest(now.byKey);
  const [ofModel, ofKey] = [now.latencyByModel, now.latencyByKey].map((rows) => Map.groupBy(rows, ({ name }) => name));
  return {
    unit,
    starts: Array.from({ length }, (_, at) => isoTime((from + at) * SLOT_MS[unit])),
    total: sums(now.byModel, isPriced(now.byModel)),
    before: shown.before === undefined ? null : sums(shown.before.byModel, isPriced(shown.before.byModel)),
    speed: speedOf(now.latencyByModel),
    speeds: Array.from({ length }, (_, at) => {
      const { p50_ms, p95_ms } = speedOf(speeds.get(from + at) ?? []);
      return p50_ms === null ? null : { p50_ms, p95_ms };
    }),
    cells: now.byModel.map((row) => ({ at: row.start - from, model: row.name, ...sums([row], isPriced([row])) })),
    models: models.map(([model, rows]) => ({
      model,
      ...sums(rows, isPriced(rows)),
      ...speedOf(ofModel?.get(model) ?? []),
    })),
    keys: keys.map(([id, rows]) => {
      const key = shown.names.get(id);
      return {
        ...{ key_id: id, key: key?.name ?? "", account: shown.named ? (key?.username ?? "") : "" },
        // It is not known here which models a key's sums belong to, and none of them may have a price.
        ...sums(rows, false),
        ...speedOf(ofKey?.get(id) ?? []),
      };
    }),
    failures: shown.failures,
    partial: shown.partial === true,
  };
}

function busiest(rows: readonly SlotSums[]): [string, SlotSums[]][] {
  const requests = (of: readonly SlotSums[]) => of.reduce((sum, row) => sum + row.requests, 0);
  const groups = [...Map.groupBy(rows, ({ name }) => name)];
  return groups.sort(([, a], [, b]) => requests(b) - requests(a)).slice(0, LINES_MAX);
}

function sumsOf(rows: readonly SlotSums[], priced: boolean): OverviewSums {
  const sum = (pick: (row: SlotSums) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const [input, output, micros] = [
    sum(({ inputTokens }) => inputTokens),
    sum(({ outputTokens }) => outputTokens),
    sum(({ costMicros }) => costMicros),
  ];
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    input_tokens: input,
    output_tokens: output,
    cached_tokens: sum(({ cachedTokens }) => cachedTokens),
    cost_usd: knownCost(
      { costMicros: micros, unpriced: sum(({ unpriced }) => unpriced) },
      input + output > 0,
      () => priced,
    ),
  };
}

function speedOf(rows: readonly SlotLatency[]): Speed {
  const answered = rows.filter(({ statusClass }) => statusClass === ANSWERED);
  const whole = answered.map(({ bucket, requests }) => ({ bucket, count: requests }));
  const first = answered.map(({ bucket, firstBytes }) => ({ bucket, count: firstBytes }));
  return {
    p50_ms: percentileMs(whole, 0.5),
    p95_ms: percentileMs(whole, 0.95),
    first_p50_ms: percentileMs(first, 0.5),
    first_p95_ms: percentileMs(first, 0.95),
  };
}
