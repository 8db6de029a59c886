// `sallyport calibrate`: fits a decision model's calibration on labelled rows and measures it on others. Calls the model's
// upstream itself, with or without a running server.

import { systemClock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { secretsOf } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { publicError } from "../decisions/api/decide.ts";
import { NonsenseAnswer } from "../decisions/backends/backend.ts";
import { backendOf } from "../decisions/backends/index.ts";
import { Priors } from "../decisions/backends/prior.ts";
import {
  type CalibrationRun,
  type Report,
  readLabelledRows,
  runCalibration,
} from "../decisions/calibration/calibrate.ts";
import type { Calibration } from "../decisions/calibration/calibration.ts";
import { reliabilitySvg, reliabilityText } from "../decisions/calibration/diagram.ts";
import { readCalibrationFile } from "../decisions/calibration/file.ts";
import { measurementOf } from "../decisions/calibration/measurement.ts";
import { cautionOn } from "../decisions/calibration/metrics.ts";
import { DecisionModels, ID } from "../decisions/models/models.ts";
import { createUpstreams } from "../decisions/models/upstreams.ts";
import {
  type DecisionVersion,
  isOutdatedVersion,
  nextVersionId,
  recalibrated,
  rowOf,
} from "../decisions/models/versions.ts";
import { decisionStore } from "../store/decisions/decisions.ts";
import type { Store } from "../store/engine/store.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import { Breakers } from "../upstream/breakers.ts";
import { configureProvider } from "../upstream/configure.ts";
import type { Provider } from "../upstream/provider.ts";
import type { Command, Context } from "./command.ts";
import { writeOutput } from "./output.ts";
import { failure, withStore } from "./workspace.ts";

const DATA_BYTES_MAX = 256 * 1024 * 1024;
/** A row whose upstream takes longer fails, and with it the whole run. */
const RUN_MS = 6 * 3_600_000;
/** How much longer than for its answer a row waits for its prior. */
const PRIOR_MS = 300_000;

export const calibrateCommand: Command = {
  summary: "fit a decision model's calibration to labelled rows",
  examples: [
    "sallyport calibrate --model judge-latest --data rows.jsonl",
    "sallyport calibrate --model judge-latest --data rows.jsonl --write --svg diagram.svg",
  ],
  usage: "--model ID --data FILE.jsonl [--write] [--as ID] [--out FILE.json] [--svg FILE.svg]",
  options: [
    { name: "model", value: "ID", summary: "the version or alias to calibrate" },
    { name: "data", value: "FILE", summary: "JSON lines of {state, question: {type, instructions, criteria}, label}" },
    { name: "write", summary: "create a new version with the calibration" },
    { name: "as", value: "ID", summary: "id of the new version (default: the next minor version)" },
    { name: "out", value: "FILE", summary: "write the calibration to a file for decisions.models[].calibration" },
    { name: "svg", value: "FILE", summary: "write the reliability diagram as a picture" },
  ],
  details:
    "Half of the rows, chosen by a hash of their content, are used for fitting; the report covers the other half. The version\nitself never changes: --write creates a new one, which answers under its own id until `decisions promote` moves an alias.",
  usesProviders: true,
  async run(context) {
    const { flags } = context;
    const model = flags.required("model");
    const as = flags.text("as");
    if (as !== undefined && !ID.test(as)) throw failure("an id has 1 to 200 letters, digits or . : / @ ~ + - _");
    const rows = await readRows(flags.required("data"));
    return withStore(context, { create: true }, async (store, config) => {
      const models = await loadModels(store, config, context);
      const version = models.find(model);
      if (version === undefined) {
        // Models from providers' lists are offered unchanged: only a model configured here can have a calibration.
        const hint = config.decisions.models.length === 0 ? "; name it in decisions.models first" : "";
        throw failure(`there is no decision model ${JSON.stringify(model)}${hint}`);
      }
      const run = await measured(version, rows, { config, context, store });
      const made = flags.has("write") ? await write(store, { version, run, id: as, models }) : undefined;
      const out = flags.text("out");
      if (out !== undefined) await writeOutput("out", out, calibrationFile(run.calibration, version));
      const svg = flags.text("svg");
      if (svg !== undefined) await writeOutput("svg", svg, reliabilitySvg(run.reports[0]!, made ?? version.id));
      print(context, { version, run, made });
      return 0;
    });
  },
};

async function readRows(path: string) {
  const file = Bun.file(path);
  if (!(await file.exists())) throw failure(`there is no file ${path}`);
  if (file.size > DATA_BYTES_MAX) throw failure(`${path} is larger than ${DATA_BYTES_MAX} bytes`);
  try {
    return readLabelledRows(await file.text());
  } catch (error) {
    throw failure(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The decision models in the configuration and the database. */
export async function loadModels(store: Store, config: Config, context: Context): Promise<DecisionModels> {
  const models = new DecisionModels({
    configured: () => config.decisions.models,
    readCalibrationFile,
    store: decisionStore(store),
    changeCounter: () => store.changeCounter(),
    clock: systemClock,
    problem: (message) => context.err(`sallyport: ${message}\n`),
  });
  await models.load();
  return models;
}

async function measured(
  version: DecisionVersion,
  rows: ReturnType<typeof readLabelledRows>,
  { config, context, store }: { config: Config; context: Context; store: Store },
): Promise<CalibrationRun> {
  const providers = new Map<string, Provider>();
  for (const entry of config.providers) {
    const provider = configureProvider(entry);
    if (provider !== undefined) providers.set(entry.name, provider);
  }
  const upstreams = createUpstreams({
    config: () => config,
    chatProvider: (name) => providers.get(name),
    breakers: new Breakers(systemClock),
    clock: systemClock,
    random: Math.random,
    scrub: makeRedactor(secretsOf(config)),
  });
  const endsMs = performance.now() + RUN_MS;
  const deadline = { signal: AbortSignal.timeout(RUN_MS), remainingMs: () => endsMs - performance.now() };
  try {
    return await runCalibration(version, rows, {
      upstream: upstreams.open(version.spec, deadline),
      // Each row that needs a prior tries to make it and waits for it, since a row without one is left out.
      priors: new Priors({ clock: systemClock, store: decisionStore(store), pauseMs: 0, patienceMs: PRIOR_MS }),
      asked: (done, of) => {
        if (context.interactive) context.err(`\r${done} of ${of} rows`);
        if (context.interactive && done === of) context.err("\n");
      },
    });
  } catch (error) {
    throw failure(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NonsenseAnswer) return error.message;
  const shown = publicError(error);
  // The provider's own error is more useful to the operator than the text for clients.
  const cause = shown instanceof ApiError ? (shown.detail.cause ?? shown) : shown;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The text of a calibration file. It holds only for readings with the same prior. */
function calibrationFile(calibration: Calibration, { spec: { prior } }: DecisionVersion): string {
  const file: Calibration = prior === "content_free" ? { ...calibration, prior } : calibration;
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

async function write(
  store: Store,
  making: { version: DecisionVersion; run: CalibrationRun; id: string | undefined; models: DecisionModels },
): Promise<string> {
  const { version, run, models } = making;
  // An outdated version may have a successor too: one that answers as this release does.
  if (run.calibration.method === "none" && !isOutdatedVersion(version)) {
    const why = run.unfitted.map(({ bucket, why }) => `${bucket}: ${why}`).join("; ");
    throw failure(`there is nothing to write: ${why || "the rows show no effect beyond chance"}`);
  }
  const { versions, aliases } = await models.current();
  const taken = new Set([...versions.keys(), ...aliases.keys()]);
  const id = making.id ?? nextVersionId(version.id, taken);
  if (taken.has(id)) throw failure(`the id ${id} is taken`);
  const next = recalibrated(version, id, run.calibration);
  const metrics = measurementOf(run, version.id);
  const kept = await decisionStore(store).addSuccessor({ ...rowOf(next), metrics: { ...metrics } });
  if (kept === undefined) throw failure(`the id ${id} is taken`);
  if (kept !== id) throw failure(`this version already exists: ${kept}`);
  return id;
}

function print(
  context: Context,
  { version, run, made }: { version: DecisionVersion; run: CalibrationRun; made: string | undefined },
): void {
  const { reports, calibration, dataset, fitRows, unfitted, unanswered } = run;
  if (context.flags.has("json")) {
    const asked = { model: version.id, written: made ?? null, fit_rows: fitRows, dataset };
    const shown = { ...asked, unanswered, unfitted, reports, calibration };
    context.out(`${JSON.stringify(shown)}\n`);
    return;
  }
  context.out(`${version.id}: fitted on ${fitRows} rows, measured on ${reports[0]!.after.rows} others\n`);
  for (const { line, why } of unanswered) context.out(`line ${line} is left out: ${why}\n`);
  for (const { bucket, why } of unfitted) context.out(`${bucket} is unchanged: ${why}.\n`);
  for (const report of reports) context.out(`\n${table(report)}`);
  context.out(
    "\nAfter calibration, by tenths of the rows: the bar is the accuracy of the most probable answer, o its stated probability.\n",
  );
  context.out(`${reliabilityText(reports[0]!.bins)}`);
  const { remark } = backendOf(version.spec);
  if (remark !== undefined) context.out(`\n${remark}\n`);
  if (isWorse(reports[0]!)) context.out("\nThis is worse on the held-out rows: `decisions promote` will refuse it.\n");
  if (made !== undefined)
    context.out(`\nNew version ${made}. Move an alias to it: sallyport decisions promote ${made} ALIAS\n`);
}

function isWorse({ before, after }: Report): boolean {
  return after.logLoss > before.logLoss;
}

function table({ type, before, after }: Report): string {
  const row = (name: string, was: number, is: number) =>
    `  ${name.padEnd(16)}${was.toFixed(4).padStart(10)}${is.toFixed(4).padStart(10)}\n`;
  return [
    `  ${type.padEnd(16)}${"before".padStart(10)}${"after".padStart(10)}\n`,
    row("accuracy", before.accuracy, after.accuracy),
    row("majority rate", before.majority, after.majority),
    row("log-loss", before.logLoss, after.logLoss),
    row("Brier score", before.brier, after.brier),
    row("ECE", before.ece, after.ece),
    row("  by chance", before.eceByChance, after.eceByChance),
    row("  95 % below", before.eceByChanceMax, after.eceByChanceMax),
    ...[cautionOn(after)].map((caution) => (caution === undefined ? "" : `  After: ${caution}\n`)),
  ].join("");
}
