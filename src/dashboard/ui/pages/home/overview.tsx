// Usage, latency and errors within a span. The figures are reloaded while the page is visible.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { OverviewSums, OverviewView, Speed } from "../../../contract-overview.ts";
import { useLoad } from "../../load.ts";
import { Bars, type Series } from "../../parts/chart.tsx";
import { Lines } from "../../parts/lines.tsx";
import { Empty, FailureBadge, Notice } from "../../parts/notice.tsx";
import { choose, isEverybody, spanShown } from "../../parts/span.tsx";
import { Table } from "../../parts/table.tsx";
import { costText, durationText, exactTime, percent, short, usd } from "../../parts/time.tsx";
import { hrefOf, query } from "../../router.ts";
import { subjectOf } from "../log/subject.ts";

const REFRESH_MS = 15_000;
/** Short, so that a first request appears soon. */
const EMPTY_REFRESH_MS = 3000;
/** More colours could not be distinguished. */
const SERIES_MAX = 5;
const SPAN_WORDS = { "1h": "hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days" } as const;

const MEASURES = {
  Requests: { of: (sums: OverviewSums) => sums.requests, format: short, whole: true },
  Tokens: { of: (sums: OverviewSums) => sums.input_tokens + sums.output_tokens, format: short, whole: true },
  Errors: { of: (sums: OverviewSums) => sums.errors, format: short, whole: true },
  Cost: { of: (sums: OverviewSums) => sums.cost_usd ?? 0, format: usd, whole: false },
} as const;
const LATENCY = "Latency";
type Measure = keyof typeof MEASURES | typeof LATENCY;
const NAMES: readonly Measure[] = [...(Object.keys(MEASURES) as (keyof typeof MEASURES)[]), LATENCY];

/** The figures. `children`: shown if there was no request yet. */
export function Overview({ children }: { children?: ComponentChildren }) {
  const everybody = isEverybody();
  const span = spanShown();
  const { value, problem, reload } = useLoad<OverviewView>(`${everybody ? "/admin" : ""}/overview?span=${span}`);
  const view = value.value;
  const isEmpty = view?.total.requests === 0;
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === "visible") void reload();
    };
    const timer = setInterval(tick, isEmpty ? EMPTY_REFRESH_MS : REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload, isEmpty]);
  return (
    <>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {view?.partial === true && (
        <Notice>This hour has too many requests to count them all. These are the figures of the latest ones.</Notice>
      )}
      <Totals view={view} />
      {isEmpty ? (
        <section class="card" aria-label="No requests">
          <p role="status">
            No request in the last {SPAN_WORDS[span]}. {span !== "90d" && "Choose a longer span above, or send one. "}
            It appears here when it ends.
          </p>
          {children}
        </section>
      ) : (
        <>
          <Chart view={view} />
          {view !== undefined && <Tables view={view} everybody={everybody} />}
          {view !== undefined && <Failures view={view} everybody={everybody} />}
        </>
      )}
    </>
  );
}

function Totals({ view }: { view: OverviewView | undefined }) {
  const { total, before, speed } = view ?? {};
  const change = (of: (sums: OverviewSums) => number) => (total && before ? changeOf(of(total), of(before)) : " ");
  const errors = total === undefined || total.requests === 0 ? "" : ` ${percent(total.errors / total.requests)}`;
  return (
    <dl class="tiles">
      <Tile name="Requests" text={total && short(total.requests)} more={change(({ requests }) => requests)} />
      <Tile name="Errors" text={total && short(total.errors)} more={errors || " "} />
      <Tile
        name="Tokens in · out"
        text={total && `${short(total.input_tokens)} · ${short(total.output_tokens)}`}
        more={total ? `${short(total.cached_tokens)} of the input from cache` : " "}
      />
      <Tile
        name="Cost"
        text={total && costText(total)}
        more={total?.cost_usd === null ? "of these models is known" : change(({ cost_usd }) => cost_usd ?? 0)}
      />
      <Tile
        name="Latency p50 · p95"
        text={speed && `${durationText(speed.p50_ms)} · ${durationText(speed.p95_ms)}`}
        more={speed ? `first byte ${durationText(speed.first_p50_ms)} · ${durationText(speed.first_p95_ms)}` : " "}
      />
    </dl>
  );
}

function Tile({ name, text, more }: { name: string; text: string | undefined; more: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={text !== undefined && text.length > 9 ? "pair" : undefined}>{text ?? "–"}</dd>
      <dd class="change">{more.trim() === "" ? "\u00a0" : more}</dd>
    </div>
  );
}

function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? "no change" : "no earlier data";
  const change = Math.round((now / before - 1) * 100);
  return `${change > 0 ? "+" : change < 0 ? "−" : "±"}${Math.abs(change)} % vs. before`;
}

function Chart({ view }: { view: OverviewView | undefined }) {
  const asked = query.value.get("measure") ?? "";
  const measure = NAMES.find((name) => name === asked) ?? "Requests";
  return (
    <section class="card chart-card" aria-label="Over time">
      <fieldset class="segments">
        <legend class="off-screen">Measure</legend>
        {NAMES.map((name) => (
          <button key={name} type="button" aria-pressed={measure === name} onClick={() => choose({ measure: name })}>
            {name}
          </button>
        ))}
      </fieldset>
      {view !== undefined && measure === LATENCY && (
        <Lines
          starts={view.starts}
          unit={view.unit}
          what="Latency"
          format={durationText}
          lines={[
            { name: "p50", values: view.speeds.map((speed) => speed?.p50_ms ?? null) },
            { name: "p95", values: view.speeds.map((speed) => speed?.p95_ms ?? null) },
          ]}
        />
      )}
      {view !== undefined && measure !== LATENCY && (
        <Bars
          days={view.starts}
          unit={view.unit}
          series={seriesOf(view, MEASURES[measure].of)}
          format={MEASURES[measure].format}
          what={measure}
          whole={MEASURES[measure].whole}
        />
      )}
    </section>
  );
}

/** The largest models separately, the rest as one series. */
function seriesOf(view: OverviewView, of: (sums: OverviewSums) => number): Series[] {
  const ranked = [...view.models].sort((a, b) => of(b) - of(a)).map(({ model }) => model);
  const own = ranked.length > SERIES_MAX ? ranked.slice(0, SERIES_MAX - 1) : ranked;
  const series = own.map((model) => ({ name: model || NO_MODEL, values: view.starts.map(() => 0) }));
  if (ranked.length > own.length) series.push({ name: "Others", values: view.starts.map(() => 0) });
  for (const cell of view.cells) {
    const rank = own.indexOf(cell.model);
    const values = (rank < 0 ? series.at(-1) : series[rank])?.values;
    if (values !== undefined) values[cell.at] = (values[cell.at] ?? 0) + of(cell);
  }
  return series;
}

/** Web tools, and requests that were refused before their model was known. */
const NO_MODEL = "no model";

interface Line extends OverviewSums, Speed {
  readonly name: string;
  readonly note: string;
  /** Filter of the log. */
  readonly filter: string;
}

function Tables({ view, everybody }: { view: OverviewView; everybody: boolean }) {
  const models = view.models.map((one): Line => {
    const filter = `model=${encodeURIComponent(one.model || "-")}`;
    return { ...one, name: one.model || NO_MODEL, note: "", filter };
  });
  const keys = view.keys.map((one): Line => {
    const filter = `key=${encodeURIComponent(one.key_id)}`;
    return { ...one, name: one.key || "a deleted key", note: one.account, filter };
  });
  return (
    <>
      <Sums title="By model" lines={models} everybody={everybody} />
      <Sums title="By key" lines={keys} everybody={everybody} />
    </>
  );
}

function Sums({ title, lines, everybody }: { title: string; lines: readonly Line[]; everybody: boolean }) {
  const more = `${everybody ? "&scope=all" : ""}&span=${spanShown()}`;
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <Table
        caption={title}
        class="requests figures sums"
        rows={lines}
        keyOf={({ filter }) => filter}
        columns={[
          {
            head: "Name",
            class: "long",
            cell: ({ filter, name, note }) => (
              <>
                <a href={hrefOf(`/log?${filter}${more}`)}>{name}</a>
                {note !== "" && <small> {note}</small>}
              </>
            ),
          },
          ...FIGURES.map(([head, textOf, label]) => ({
            head,
            label: label ?? head,
            class: "number",
            cell: textOf,
          })),
        ]}
      />
    </section>
  );
}

/** The figures of a line: heading, text, and the label on a narrow screen. */
const FIGURES: readonly (readonly [head: string, textOf: (line: Line) => string, label?: string])[] = [
  ["Requests", ({ requests }) => short(requests)],
  ["Errors", ({ errors }) => short(errors)],
  ["Tokens in", ({ input_tokens: tokens }) => short(tokens)],
  ["cached", ({ cached_tokens: tokens }) => short(tokens), "Cached"],
  ["out", ({ output_tokens: tokens }) => short(tokens), "Tokens out"],
  ["Cost", costText],
  ["p50", ({ p50_ms: ms }) => durationText(ms)],
  ["p95", ({ p95_ms: ms }) => durationText(ms)],
  ["First byte p50", ({ first_p50_ms: ms }) => durationText(ms), "First byte"],
];

function Failures({ view, everybody }: { view: OverviewView; everybody: boolean }) {
  const scope = everybody ? "&scope=all" : "";
  return (
    <section class="stack" aria-labelledby="failures">
      <div class="row between">
        <h2 id="failures">Latest failures</h2>
        <a href={hrefOf(`/log?span=${spanShown()}&status=failed${scope}`)}>All in the request log</a>
      </div>
      {view.failures.length === 0 ? (
        <Empty>No request failed in the last {SPAN_WORDS[spanShown()]}.</Empty>
      ) : (
        <ul class="card lines failures">
          {view.failures.map((row) => (
            <li key={row.id}>
              <a href={hrefOf(`/log?open=${row.id}&request=${encodeURIComponent(row.request_id)}${scope}`)}>
                <time dateTime={row.created_at}>{exactTime(row.created_at)}</time> {subjectOf(row)}
              </a>
              <span>
                {row.key || "a deleted key"}
                {row.repeats > 1 && ` × ${row.repeats}`}
              </span>
              <FailureBadge status={row.status} error={row.error} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
