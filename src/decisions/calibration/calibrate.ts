// Calibrates a version with labelled rows: sends them to its upstream, fits on half of the rows, and reports on the other half,
// which the fit does not use. The split depends on the rows' content, so that repeated runs compare the same halves.

import { sha256Hex } from "../../base/ids.ts";
import { isRecord } from "../../base/json-object.ts";
import { type BackendSpec, inParallel, NonsenseAnswer, type Upstream } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import type { Priors } from "../backends/prior.ts";
import { type DecisionVersion, isOutdatedVersion, renewed } from "../models/versions.ts";
import { type Content, type Question, readDecisionRequest } from "../questions.ts";
import { type Calibration, calibrate } from "./calibration.ts";
import { FIT_ROWS_MIN, fitCalibration, type LabelledReading, unfittable } from "./fit.ts";
import { type AnsweredRow, type Bin, type CalibrationMetrics, measureRows, reliability } from "./metrics.ts";

/** A labelled row of a data file. */
export interface LabelledRow {
  readonly state: Content;
  readonly question: Question;
  readonly truth: number;
  readonly fit: boolean;
  /** The SHA-256 of the line. */
  readonly hash: string;
  /** The number of the line in its file. */
  readonly line: number;
}

/** The metrics before and after calibration, on rows that the fit did not use. */
export interface Report {
  /** `all`, or a type of question. */
  readonly type: string;
  readonly before: CalibrationMetrics;
  readonly after: CalibrationMetrics;
  readonly binsBefore: readonly Bin[];
  /** The reliability after calibration. */
  readonly bins: readonly Bin[];
}

export interface CalibrationRun {
  readonly calibration: Calibration;
  readonly dataset: Dataset;
  readonly fitRows: number;
  /** The lines that were left out because the model gave no usable answer, and what came instead. */
  readonly unanswered: readonly { readonly line: number; readonly why: string }[];
  /** The kinds of questions that were left unchanged because their rows are too few or too alike. */
  readonly unfitted: readonly { readonly bucket: string; readonly why: string }[];
  /** The reports for all held-out rows, then for each type of question if there are several. */
  readonly reports: readonly Report[];
}

/** Identifies the rows of a calibration. */
export interface Dataset {
  /** The SHA-256 over the rows' own hashes, which are sorted so that the order of the rows does not matter. */
  readonly sha256: string;
  /** Number of usable rows. */
  readonly rows: number;
}

/** Maximum number of rows of a kind that are read in many orders to learn position biases, and the maximum number of orders. */
const TURNED_ROWS = 25;
const TURNED_ORDERS = 8;
/**
 * The number of bins in a diagram. It is lower than that of the calibration error, since with a few hundred rows more bins would
 * show noise.
 */
const DIAGRAM_BINS = 10;
/** The number of rows that are processed at once; each row makes its own calls. */
const ROWS_AT_ONCE = 4;

/** Reads lines of JSON `{state, question:{type,instructions,criteria}, label}`. Throws an Error that names the line. */
export function readLabelledRows(text: string): LabelledRow[] {
  return text
    .split("\n")
    .map((line, at) => ({ line: line.trim(), at: at + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, at }) => {
      try {
        return readRow(line, at);
      } catch (error) {
        throw new Error(`line ${at}: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
}

function readRow(line: string, at: number): LabelledRow {
  const row: unknown = JSON.parse(line);
  if (!isRecord(row)) throw new Error("expected a JSON object");
  const body = { model: "-", state: row["state"], questions: { row: row["question"] } };
  const request = readDecisionRequest(body, { criteriaMayAsk: true });
  const question = request.questions[0]!;
  const truth = truthOf(question, row["label"]);
  if (truth === undefined)
    throw new Error(`the label ${JSON.stringify(row["label"])} is not one of the question's answers`);
  const hash = sha256Hex(line);
  return {
    state: request.state,
    question,
    truth,
    fit: Number.parseInt(hash.slice(0, 2), 16) % 2 === 0,
    hash,
    line: at,
  };
}

/** Other values for true and false in data sets. */
const YES_NO = new Map<unknown, boolean>([
  ["yes", true],
  ["no", false],
  [1, true],
  [0, false],
]);

function truthOf({ type, options }: Question, label: unknown): number | undefined {
  if (type === "score") {
    const number = typeof label === "string" && label.trim() !== "" ? Number(label) : label;
    const level = typeof number === "number" ? Math.round(number) : Number.NaN;
    return level >= 0 && level < options.length ? level : undefined;
  }
  const said = type === "noul" ? (YES_NO.get(label) ?? label) : label;
  const at = options.findIndex((option) => option.label === String(said));
  return at < 0 ? undefined : at;
}

/** Sends the rows, fits and measures. `asked` is called with the number of finished rows. Throws the error of the upstream. */
export async function runCalibration(
  version: DecisionVersion,
  rows: readonly LabelledRow[],
  options: { upstream: Upstream; priors?: Priors; asked?(done: number, of: number): void },
): Promise<CalibrationRun> {
  const usable = rows.filter(({ question }) => question.options.length > 1);
  const fit = usable.filter((row) => row.fit);
  const held = usable.filter((row) => !row.fit);
  if (fit.length < FIT_ROWS_MIN || held.length < FIT_ROWS_MIN) {
    throw new Error(`${usable.length} usable rows are too few: each half needs ${FIT_ROWS_MIN}`);
  }
  // The fit uses this release's prompts and formulas. The state before is measured with the version's own.
  const { spec } = renewed(version);
  const former = isOutdatedVersion(version) ? held : [];
  const turnedRows = backendOf(spec).readsLogprobs === true ? rowsToTurn(fit, spec.orders) : [];
  const total = usable.length + turnedRows.length + former.length;
  let rowsRead = 0;
  const skipped = new Skipped(version, usable.length);
  const read = async (row: LabelledRow, spec: BackendSpec): Promise<LabelledReading[]> => {
    const task = { state: row.state, questions: [row.question], spec, priors: options.priors };
    const answer = await skipped.unless(row, async () => {
      const came = await backendOf(spec).answer(task, options.upstream);
      if ((came.refused ?? []).length > 0) throw new NonsenseAnswer("The model refuses to answer the question.");
      // A fit on readings of both kinds would hold for neither.
      if ((came.prior?.missing ?? 0) > 0) throw new NonsenseAnswer("The prior of the question could not be made.");
      return came;
    });
    rowsRead += 1;
    options.asked?.(rowsRead, total);
    return answer === undefined ? [] : [{ question: row.question, readings: answer.readings[0]!, truth: row.truth }];
  };
  const all = async (which: readonly LabelledRow[], spec: BackendSpec) => {
    const jobs = which.map((row) => () => read(row, spec));
    return (await inParallel(jobs, ROWS_AT_ONCE)).flat();
  };
  const fitted = await all(fit, spec);
  const turned = await all(turnedRows, { ...spec, orders: TURNED_ORDERS, turning: true });
  const measured = await all(held, spec);
  const before = former.length === 0 ? measured : await all(former, version.spec);
  const calibration = fitCalibration(fitted, turned);
  return {
    calibration,
    dataset: datasetOf(usable),
    fitRows: fitted.length,
    unanswered: skipped.rows(),
    unfitted: unfittable(fitted),
    reports: reportsOf({ rows: before, calibration: version.calibration }, { rows: measured, calibration }),
  };
}

/** Of the rows, this share may be left unanswered, and always this many. */
const SKIPPED_SHARE = 0.1;
const SKIPPED_MIN = 3;

/** The rows without a usable answer. A few are left out; more mean that the model cannot do this. */
class Skipped {
  readonly #byLine = new Map<number, string>();
  readonly #most: number;
  readonly #asked: string;

  constructor({ id, spec }: DecisionVersion, rows: number) {
    this.#most = Math.max(SKIPPED_MIN, Math.floor(rows * SKIPPED_SHARE));
    this.#asked = `${id} (${spec.routes.map(({ provider, model }) => `${provider}/${model}`).join(", ")})`;
  }

  /** The lines in their order. */
  rows(): { line: number; why: string }[] {
    return [...this.#byLine].map(([line, why]) => ({ line, why })).sort((a, b) => a.line - b.line);
  }

  /** The result of `work`; undefined if the answer was unusable. Throws an Error when too many were. */
  async unless<T>({ line, question }: LabelledRow, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NonsenseAnswer)) throw error;
      // In the file the question has no name.
      const said = error.message.replace(new RegExp(`question ${JSON.stringify(question.key)}`, "i"), "the question");
      const came = error.came === undefined ? "" : ` It came: ${JSON.stringify(error.came)}`;
      const why = `${said.slice(0, 1).toUpperCase()}${said.slice(1)}${came}`;
      this.#byLine.set(line, why);
      if (this.#byLine.size <= this.#most) return undefined;
      throw new Error(`line ${line}: no usable answer of ${this.#asked}, as for ${this.#most} other rows. ${why}`);
    }
  }
}

function datasetOf(rows: readonly LabelledRow[]): Dataset {
  const hashes = rows.map(({ hash }) => hash).sort();
  return { sha256: sha256Hex(hashes.join("\n")), rows: rows.length };
}

/** Only questions with more options than orders have position biases that do not cancel out. */
function rowsToTurn(rows: readonly LabelledRow[], orders: number): LabelledRow[] {
  const taken = new Map<string, number>();
  return rows.filter(({ question: { type, options } }) => {
    const count = options.length;
    // Levels are only shown upwards and downwards, however many orders are configured.
    if (type === "noul" || count <= (type === "score" ? 2 : orders) || count > 20) return false;
    const kind = `${type}:${count}`;
    const had = taken.get(kind) ?? 0;
    taken.set(kind, had + 1);
    return had < TURNED_ROWS;
  });
}

interface Answers {
  readonly rows: readonly LabelledReading[];
  readonly calibration: Calibration;
}

function reportsOf(before: Answers, after: Answers): Report[] {
  const judged = ({ rows, calibration }: Answers, type: string): AnsweredRow[] =>
    rows
      .filter(({ question }) => type === "all" || question.type === type)
      .map(({ question, readings, truth }) => ({
        probabilities: calibrate(question, readings, calibration),
        truth,
        label: question.options[truth]!.label,
      }));
  const report = (type: string): Report => {
    const [was, now] = [judged(before, type), judged(after, type)];
    return {
      type,
      before: measureRows(was),
      after: measureRows(now),
      binsBefore: reliability(was, DIAGRAM_BINS),
      bins: reliability(now, DIAGRAM_BINS),
    };
  };
  const types = [...new Set(after.rows.map(({ question }) => question.type))];
  return types.length === 1 ? [report(types[0]!)] : [report("all"), ...types.map(report)];
}
