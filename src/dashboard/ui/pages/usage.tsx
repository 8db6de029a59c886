// Usage by day, hour, model, key, project or tag. What is chosen is in the query, so that a link and a reload show the same.

import { useId } from "preact/hooks";
import { API } from "../../contract.ts";
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageReportRow,
  type UsageReportSums,
  type UsageReportView,
} from "../../contract-usage.ts";
import { useLoad } from "../load.ts";
import { Bars } from "../parts/chart.tsx";
import { GroupBars } from "../parts/group-bars.tsx";
import { Notice } from "../parts/notice.tsx";
import { choose, isEverybody, ScopeChoice } from "../parts/span.tsx";
import { Table } from "../parts/table.tsx";
import { dayText, short, usd, zonedTime } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { query } from "../router.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Sums by the hour are kept this long; before, a day of another time zone cannot be told from its neighbours. */
const HOURS_KEPT_MS = 14 * DAY_MS;
/** More bars could not be distinguished. */
const BARS_MAX = 366;
const ROWS_SHOWN = 100;
const UTC = "UTC";

const MEASURES = {
  Requests: { of: (sums: UsageReportSums) => sums.requests, format: short, whole: true },
  Tokens: { of: (sums: UsageReportSums) => sums.input_tokens + sums.output_tokens, format: short, whole: true },
  Errors: { of: (sums: UsageReportSums) => sums.errors, format: short, whole: true },
  Cost: { of: (sums: UsageReportSums) => sums.cost_usd ?? 0, format: usd, whole: false },
} as const;
type MeasureName = keyof typeof MEASURES;

/** What stands for groups without a name. */
const NAMELESS: Readonly<Partial<Record<UsageDimension, string>>> = { model: "no model", project: "no project" };

export function UsagePage() {
  const by = dimensionShown();
  const address = `${isEverybody() ? "/admin" : ""}/usage-report?${reportQuery(by)}`;
  const { value, problem } = useLoad<UsageReportView>(address);
  const view = problem.value === undefined ? value.value : undefined;
  return (
    <>
      <Title
        actions={
          <a class="button" href={`${API}${address}&format=csv`} download>
            Download CSV
          </a>
        }
      >
        Usage
      </Title>
      <ScopeChoice />
      <Choices by={by} view={view} />
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <Totals total={view?.total} />
      <section class="card chart-card" aria-label="Chart">
        <MeasureChoice />
        {view !== undefined && <Chart view={view} />}
      </section>
      {view !== undefined && <Rows view={view} />}
    </>
  );
}

function dimensionShown(): UsageDimension {
  return USAGE_DIMENSIONS.find((one) => one === query.value.get("by")) ?? "day";
}

function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The time zone of hours, and of the days from which and to which is counted. */
function zoneShown(by: UsageDimension): string {
  return by === "day" || query.value.get("zone") === "utc" ? UTC : browserZone();
}

/** The question to the API: days as such where they are UTC days, otherwise the times at which they begin and end here. */
function reportQuery(by: UsageDimension): string {
  const params = new URLSearchParams({ by });
  const [from, to] = [query.value.get("from") ?? "", query.value.get("to") ?? ""];
  const isLocal = zoneShown(by) !== UTC && (by === "hour" || from === "" || isKeptByHour(from));
  if (from !== "") params.set("from", isLocal ? midnight(from, 0) : from);
  if (to !== "") params.set("to", isLocal ? midnight(to, 1) : to);
  return params.toString();
}

function isKeptByHour(day: string): boolean {
  return !(Date.parse(day) < Date.now() - HOURS_KEPT_MS);
}

/** The start of a day of this browser's time zone, or of a later day. */
function midnight(day: string, daysLater: number): string {
  const [year, month, date] = day.split("-").map(Number);
  const start = new Date(year ?? 0, (month ?? 1) - 1, (date ?? 1) + daysLater);
  return Number.isNaN(start.getTime()) ? day : start.toISOString();
}

function Choices({ by, view }: { by: UsageDimension; view: UsageReportView | undefined }) {
  return (
    <>
      <fieldset class="segments">
        <legend class="off-screen">Group by</legend>
        {USAGE_DIMENSIONS.map((one) => (
          <button key={one} type="button" class="capital" aria-pressed={by === one} onClick={() => choose({ by: one })}>
            {one}
          </button>
        ))}
      </fieldset>
      <div class="inline usage-span">
        <DayField name="from" label="From" />
        <DayField name="to" label="To" />
        {by !== "day" && <ZoneChoice />}
      </div>
      <p class="change" role="status">
        {view === undefined ? "\u00a0" : spanText(view)}
      </p>
    </>
  );
}

/** A day of the query. An empty field stands for the usual span. */
function DayField({ name, label }: { name: "from" | "to"; label: string }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={query.value.get(name) ?? ""}
        onChange={(event) => choose({ [name]: event.currentTarget.value })}
      />
    </div>
  );
}

function ZoneChoice() {
  const isUtc = query.value.get("zone") === "utc";
  return (
    <fieldset class="segments">
      <legend class="off-screen">Time zone</legend>
      <button type="button" aria-pressed={!isUtc} onClick={() => choose({ zone: "" })}>
        Browser ({browserZone()})
      </button>
      <button type="button" aria-pressed={isUtc} onClick={() => choose({ zone: "utc" })}>
        UTC
      </button>
    </fieldset>
  );
}

/** What the figures cover. */
function spanText({ by, from, to, has_more }: UsageReportView): string {
  const more = has_more ? ` The first ${short(10_000)} rows are shown; the totals are of all.` : "";
  const areDays = [from, to].every((time) => Date.parse(time) % DAY_MS === 0);
  if (by === "day" || (areDays && by !== "hour")) {
    const [first, last] = [from, new Date(Date.parse(to) - DAY_MS).toISOString()].map(utcDayText);
    return `${first === last ? first : `${first} to ${last}`}, UTC days.${more}`;
  }
  const zone = zoneShown(by);
  return `${zonedTime(from, zone)} to ${zonedTime(to, zone)}, ${zone}.${more}`;
}

function utcDayText(iso: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: UTC }).format(new Date(iso));
}

function Totals({ total }: { total: UsageReportSums | undefined }) {
  return (
    <dl class="tiles">
      {FIGURES.map(([head, textOf, label = head]) => {
        const text = total === undefined ? "–" : textOf(total);
        return (
          <div key={label}>
            <dt>{label}</dt>
            <dd class={text.length > 9 ? "pair" : undefined}>{text}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The figures: heading, text, and the label where it stands alone. */
const FIGURES: readonly (readonly [head: string, textOf: (sums: UsageReportSums) => string, label?: string])[] = [
  ["Requests", ({ requests }) => short(requests)],
  ["Errors", ({ errors }) => short(errors)],
  ["Tokens in", ({ input_tokens: tokens }) => short(tokens)],
  ["cached", ({ cached_tokens: tokens }) => short(tokens), "Cached"],
  ["out", ({ output_tokens: tokens }) => short(tokens), "Tokens out"],
  ["Cost", spentText],
];

/** The cost, and whether there is more whose price is not known. */
function spentText({ cost_usd: cost, unpriced }: UsageReportSums): string {
  if (cost === null) return "unknown";
  return unpriced > 0 ? `${usd(cost)} + unknown` : usd(cost);
}

function measureShown(): MeasureName {
  const asked = query.value.get("measure") ?? "";
  return Object.hasOwn(MEASURES, asked) ? (asked as MeasureName) : "Requests";
}

function MeasureChoice() {
  return (
    <fieldset class="segments">
      <legend class="off-screen">Measure</legend>
      {(Object.keys(MEASURES) as MeasureName[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={measureShown() === name}
          onClick={() => choose({ measure: name })}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

function Chart({ view }: { view: UsageReportView }) {
  const what = measureShown();
  const { of, format, whole } = MEASURES[what];
  const { by, rows } = view;
  if (by !== "day" && by !== "hour") {
    const groups = rows.map((row) => ({ key: row.id ?? "", name: nameOf(by, row), value: of(row) }));
    return <GroupBars what={`${what} by ${by}`} groups={groups} format={format} />;
  }
  const starts = startsOf(view);
  const values = new Map(rows.map((row) => [row.id, of(row)]));
  const series = [{ name: "Total", values: starts.map((start) => values.get(start) ?? 0) }];
  return <Bars {...{ what, series, format, whole, unit: by, days: starts, timeZone: zoneShown(by) }} />;
}

/** The days or hours of the span, those without a request too, up to now. */
function startsOf({ by, from, to }: UsageReportView): string[] {
  const slotMs = by === "hour" ? HOUR_MS : DAY_MS;
  const endMs = Math.max(Math.min(Date.parse(to), Date.now()), Date.parse(from) + 1);
  const count = Math.ceil((endMs - Date.parse(from)) / slotMs);
  const lastMs = Date.parse(from) + (count - 1) * slotMs;
  const shown = Math.min(count, BARS_MAX);
  return Array.from({ length: shown }, (_, at) => {
    const start = new Date(lastMs - (shown - 1 - at) * slotMs).toISOString();
    return by === "day" ? start.slice(0, 10) : start;
  });
}

function nameOf(by: UsageDimension, { id, name }: UsageReportRow): string {
  if (id === null) return NAMELESS[by] ?? "none";
  if (by === "day") return dayText(`${id}T12:00:00Z`);
  return by === "hour" ? zonedTime(id, zoneShown(by)) : name || id;
}

function Rows({ view: { by, rows } }: { view: UsageReportView }) {
  const isOverTime = by === "day" || by === "hour";
  const weight = ({ cost_usd, requests }: UsageReportSums) => [cost_usd ?? 0, requests] as const;
  const sorted = isOverTime
    ? [...rows].reverse()
    : [...rows].sort((a, b) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1]);
  const head =
    by === "day" ? "UTC day" : by === "hour" ? `Hour (${zoneShown(by)})` : by[0]?.toUpperCase() + by.slice(1);
  return (
    <section class="stack" aria-labelledby="usage-rows">
      <h2 id="usage-rows">By {by}</h2>
      {by === "tag" && (
        <p class="change">A request with several tags is in the sums of each, one without tags in none of them.</p>
      )}
      <Table
        caption={`Usage by ${by}`}
        class="requests figures sums"
        rows={sorted}
        most={ROWS_SHOWN}
        keyOf={({ id }) => id ?? ""}
        empty="Nothing was used in this span."
        columns={[
          {
            head,
            class: "long",
            cell: (row) => (
              <>
                {nameOf(by, row)}
                {row.account !== "" && <small> {row.account}</small>}
              </>
            ),
          },
          ...FIGURES.map(([title, cell, label = title]) => ({ head: title, label, class: "number", cell })),
        ]}
      />
    </section>
  );
}
