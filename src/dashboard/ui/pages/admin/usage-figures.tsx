// The usage of all accounts: sums, a chart by day, and tables by name.

import type { EverybodysUsage, LatencyView, UsageSumsView } from "../../../contract-usage.ts";
import { Bars, type Series } from "../../parts/chart.tsx";
import { choose } from "../../parts/span.tsx";
import { Table } from "../../parts/table.tsx";
import { costText, short, usd } from "../../parts/time.tsx";
import { query } from "../../router.ts";

const SPANS = [7, 30, 90] as const;
const DAYS = 30;
/** More colours could not be distinguished. */
const SERIES_MAX = 5;

const MEASURES = {
  Requests: { of: (sums: UsageSumsView) => sums.requests, format: short, whole: true },
  Tokens: { of: (sums: UsageSumsView) => sums.input_tokens + sums.output_tokens, format: short, whole: true },
  Errors: { of: (sums: UsageSumsView) => sums.errors, format: short, whole: true },
  Cost: { of: (sums: UsageSumsView) => sums.cost_usd ?? 0, format: usd, whole: false },
} as const;

/** Web tools, and requests that were refused before their model was known. */
export const NO_MODEL = "no model";

type Measure = keyof typeof MEASURES;

/** The span in the query, in days. */
export function daysShown(): number {
  const days = Number(query.value.get("days"));
  return SPANS.find((span) => span === days) ?? DAYS;
}

/** Selects the number of days. */
export function Spans() {
  const days = daysShown();
  return (
    <fieldset class="segments">
      <legend class="off-screen">Span</legend>
      {SPANS.map((span) => (
        <button key={span} type="button" aria-pressed={days === span} onClick={() => choose({ days: String(span) })}>
          {span} days
        </button>
      ))}
    </fieldset>
  );
}

/** The part of a report that is shown, for one account or for all. */
type Report = Omit<EverybodysUsage, "latency"> & { readonly latency?: LatencyView };

/** The chart of the selected measure. */
export function ByDay({ report }: { report: Report | undefined }) {
  const asked = query.value.get("measure") ?? "";
  const measure: Measure = Object.hasOwn(MEASURES, asked) ? (asked as Measure) : "Requests";
  const { of, format, whole } = MEASURES[measure];
  return (
    <section class="card chart-card" aria-label="By day">
      <fieldset class="segments">
        <legend class="off-screen">Measure</legend>
        {(Object.keys(MEASURES) as Measure[]).map((name) => (
          <button key={name} type="button" aria-pressed={measure === name} onClick={() => choose({ measure: name })}>
            {name}
          </button>
        ))}
      </fieldset>
      {report !== undefined && (
        <Bars days={report.days} series={seriesOf(report, of)} format={format} what={measure} whole={whole} />
      )}
    </section>
  );
}

/** The sums and their changes. */
export function UsageTotals({ report }: { report: Report | undefined }) {
  const latency = report?.latency;
  const tile = (
    name: string,
    of: (sums: UsageSumsView) => number,
    shown: (sums: UsageSumsView) => string = (sums) => short(of(sums)),
  ) => (
    <div>
      <dt>{name}</dt>
      <dd class={report !== undefined && shown(report.total).length > 9 ? "pair" : undefined}>
        {report === undefined ? "–" : shown(report.total)}
      </dd>
      <dd class="change">{report === undefined ? "\u00a0" : change(of(report.total), of(report.before))}</dd>
    </div>
  );
  return (
    <dl class="tiles">
      {tile("Requests", ({ requests }) => requests)}
      {tile("Errors", ({ errors }) => errors)}
      {tile(
        "Tokens in · out",
        ({ input_tokens: input, output_tokens: output }) => input + output,
        ({ input_tokens: input, output_tokens: output }) => `${short(input)} · ${short(output)}`,
      )}
      {tile("Cost", ({ cost_usd }) => cost_usd ?? 0, costText)}
      {latency !== undefined && (
        <div>
          <dt>Latency p50 · p95</dt>
          <dd class="pair">
            {took(latency.p50_ms)} · {took(latency.p95_ms)}
          </dd>
          <dd class="change">
            first byte {took(latency.first_byte_p50_ms)} · {took(latency.first_byte_p95_ms)}
          </dd>
        </div>
      )}
    </dl>
  );
}

/** A duration as text. */
function took(ms: number | null): string {
  if (ms === null) return "–";
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function change(now: number, before: number): string {
  if (before === 0) return now === 0 ? "no change" : "no earlier data";
  const percent = Math.round((now / before - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent)} % vs. before`;
}

/** The largest models separately, the rest as one series. */
function seriesOf(report: Report, of: (sums: UsageSumsView) => number): Series[] {
  const ranked = [...report.models].sort((a, b) => of(b) - of(a)).map(({ model }) => model);
  const own = ranked.length > SERIES_MAX ? ranked.slice(0, SERIES_MAX - 1) : ranked;
  const index = new Map(report.days.map((day, at) => [day, at]));
  const series = own.map((model) => ({ name: model || NO_MODEL, values: report.days.map(() => 0) }));
  if (ranked.length > own.length) series.push({ name: "Others", values: report.days.map(() => 0) });
  for (const cell of report.cells) {
    const at = index.get(cell.day);
    const rank = own.indexOf(cell.model);
    const values = (rank < 0 ? series.at(-1) : series[rank])?.values;
    if (values !== undefined && at !== undefined) values[at] = (values[at] ?? 0) + of(cell);
  }
  return series;
}

/** Sums by name, the most tokens first. */
export function Sums({ title, rows }: { title: string; rows: readonly (UsageSumsView & { name: string })[] }) {
  const sorted = [...rows].sort((a, b) => b.input_tokens + b.output_tokens - a.input_tokens - a.output_tokens);
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <Table
        caption={title}
        rows={sorted}
        keyOf={({ name }) => name}
        columns={[
          { head: "Name", class: "long", cell: ({ name }) => name },
          { head: "Requests", class: "number", cell: (row) => short(row.requests) },
          { head: "Tokens", class: "number", cell: (row) => short(row.input_tokens + row.output_tokens) },
          { head: "Cost", class: "number", cell: costText },
        ]}
      />
    </section>
  );
}
