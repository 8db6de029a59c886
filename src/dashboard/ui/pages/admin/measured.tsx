// The measurements of a fitted version: figures before and after, and a reliability diagram for each type of question.

import type { DecisionMetrics, DecisionReport, DecisionVersionView } from "../../../contract.ts";
import { Reliability } from "../../parts/reliability.tsx";
import { Table } from "../../parts/table.tsx";
import { percent } from "../../parts/time.tsx";

type Measurement = NonNullable<DecisionVersionView["measurement"]>;

const TYPES: Readonly<Record<string, string>> = {
  all: "All questions",
  noul: "Yes or no",
  choice: "Choice",
  score: "Score",
};

export function MeasurementSections({ measurement }: { measurement: Measurement }) {
  const { reports, dataset, from, fit_rows: fitRows } = measurement;
  const drawn = reports.filter(({ bins }) => bins.length > 0);
  return (
    <>
      <section class="stack" aria-labelledby="measured">
        <h2 id="measured">Measured on held-out rows</h2>
        <p class="hint long">
          Fitted from {from || "an earlier version"} on {fitRows} rows
          {dataset === null ? "." : ` of ${dataset.rows}; data `}
          {dataset !== null && <code>{dataset.sha256}</code>} Each figure is shown before and after the fit; the
          calibration error with its 95 % bootstrap interval.
        </p>
        <Figures reports={reports} />
      </section>
      {drawn.length > 0 && (
        <section class="stack" aria-labelledby="reliability">
          <h2 id="reliability">Reliability</h2>
          <p class="hint">
            The accuracy of the most probable answer by its stated probability. On the diagonal the two are equal; below
            it the model is overconfident.
          </p>
          <div class="diagrams">
            {drawn.map(({ type, bins, bins_before: before }) => (
              <Reliability key={type} title={nameOf(type)} bins={bins} before={before} />
            ))}
          </div>
        </section>
      )}
    </>
  );
}

function Figures({ reports }: { reports: readonly DecisionReport[] }) {
  return (
    <Table
      caption="Figures before and after the fit"
      class="figures"
      rows={reports}
      keyOf={({ type }) => type}
      columns={[
        { head: "Questions", cell: ({ type }) => nameOf(type) },
        { head: "Rows", class: "number", cell: ({ after }) => after.rows },
        { head: "Most frequent answer", class: "number", cell: ({ after }) => percent(after.majority) },
        {
          head: "Accuracy",
          class: "number",
          cell: ({ before, after }) => <Change from={before.accuracy} to={after.accuracy} show={percent} more />,
        },
        {
          head: "Log-loss",
          class: "number",
          cell: ({ before, after }) => <Change from={before.log_loss} to={after.log_loss} show={digits} />,
        },
        {
          head: "Brier score",
          class: "number",
          cell: ({ before, after }) => <Change from={before.brier} to={after.brier} show={digits} />,
        },
        {
          head: "Calibration error (ECE)",
          class: "number",
          cell: ({ before, after }) => (
            <Change from={before.ece} to={after.ece} show={percent} beside={chanceOf} of={{ before, after }} />
          ),
        },
      ]}
    />
  );
}

/** Figures before and after, one above the other; `more` is better for the share of right answers, less for errors. */
function Change(props: {
  from: number;
  to: number;
  show: (value: number) => string;
  more?: boolean;
  beside?: (of: DecisionMetrics) => string;
  of?: { before: DecisionMetrics; after: DecisionMetrics };
}) {
  const { from, to, show, more = false, beside, of } = props;
  const gain = more ? to - from : from - to;
  const verdict = gain > 0 ? "better" : gain < 0 ? "worse" : "same";
  return (
    <span class="change-of">
      <span class="was">
        <span class="off-screen">before </span>
        {show(from)} {beside !== undefined && of !== undefined && <small>{beside(of.before)}</small>}
      </span>
      <b class={verdict}>
        <span class="off-screen">after, {verdict}: </span>
        {show(to)} {beside !== undefined && of !== undefined && <small>{beside(of.after)}</small>}
      </b>
    </span>
  );
}

/** The figures that a perfectly calibrated model would show on such rows. */
function chanceOf({ ece_by_chance: chance }: DecisionMetrics): string {
  return chance === null ? "" : `(by chance ${percent(chance[0])}, up to ${percent(chance[1])})`;
}

function digits(value: number): string {
  return value.toFixed(4);
}

function nameOf(type: string): string {
  return TYPES[type] ?? type;
}
