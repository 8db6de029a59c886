import { expect, test } from "bun:test";
import type { CalibrationRun } from "../../src/decisions/calibration/calibrate.ts";
import { measurementOf, readMeasurement } from "../../src/decisions/calibration/measurement.ts";
import { measureRows, reliability } from "../../src/decisions/calibration/metrics.ts";
import { decisionOverview } from "../../src/decisions/models/overview.ts";
import {
  recalibrated,
  rowOf,
  versionOfConfig,
  versionOfRow,
  WITHOUT_CALIBRATION,
} from "../../src/decisions/models/versions.ts";

const origin = versionOfConfig(
  {
    id: "judge-1.0.0",
    name: "",
    description: "Judges.",
    tier: "pro",
    aliases: ["judge-latest"],
    calibration: "",
    prices: { input: 3 },
    backend: {
      kind: "logprobs",
      routes: [{ provider: "sim", model: "m", path: "", priority: 1, weight: 1 }],
      limits: {},
      orders: 2,
      concurrency: 8,
      minLabelMass: 0.5,
      prior: "none" as const,
    },
  },
  WITHOUT_CALIBRATION,
);

const rows = Array.from({ length: 40 }, (_, at) => ({
  probabilities: [0.7, 0.3],
  truth: at % 3 === 0 ? 1 : 0,
  label: `${at % 3}`,
}));
const report = {
  type: "noul",
  before: measureRows(rows),
  after: measureRows(rows),
  binsBefore: reliability(rows),
  bins: reliability(rows),
};
const run: CalibrationRun = {
  calibration: {
    method: "fitted",
    buckets: { noul: { temperature: 2, bias: -0.5, rows: 30 }, "choice:6-20": { temperature: 1.5, rows: 40 } },
  },
  dataset: { sha256: "ab".repeat(32), rows: 80 },
  fitRows: 40,
  unanswered: [],
  unfitted: [],
  reports: [report],
};
const next = recalibrated(origin, "judge-1.1.0", run.calibration);
// The version as it is read from the store, after a conversion to JSON and back.
const stored = JSON.parse(JSON.stringify({ ...rowOf(next), metrics: measurementOf(run, origin.id), createdAtMs: 5 }));

test("the overview shows the basis and the measurements of each version", () => {
  const fitted = versionOfRow(stored, origin)!;
  const snapshot = {
    versions: new Map([
      [origin.id, origin],
      [fitted.id, fitted],
    ]),
    aliases: new Map([
      ["judge-latest", fitted.id],
      ["gone", "nowhere"],
    ]),
  };
  const seen = { provider: "sim", upstreamModel: "m-2", fingerprint: "f", firstAtMs: 1, lastAtMs: 2 };
  const [first, second] = decisionOverview(snapshot, {
    sightings: [{ version: fitted.id, ...seen }],
    health: {
      status: "degraded",
      models: 2,
      unfit: [{ model: origin.id, reason: "why" }],
      unfit_routes: [{ model: fitted.id, provider: "sim", reason: "other words" }],
      drifted: [fitted.id],
    },
    priceOf: ({ inputPrice = null }) => inputPrice,
  });
  expect(first).toMatchObject({
    id: "judge-1.0.0",
    aliases: [],
    backend: "logprobs",
    tier: "pro",
    routes: [{ provider: "sim", model: "m" }],
    calibration: "none",
    parameters: [],
    measured: null,
    inputPrice: 3,
    sightings: [],
    drifted: false,
    unfit: "why",
  });
  expect(second).toMatchObject({
    id: "judge-1.1.0",
    origin: "judge-1.0.0",
    aliases: ["judge-latest"],
    hash: next.hash,
    createdAtMs: 5,
    calibration: "fitted",
    parameters: [
      { type: "choice", options: "6-20", temperature: 1.5, rows: 40 },
      { type: "noul", options: "2", temperature: 2, bias: -0.5, rows: 30 },
    ],
    measured: { from: "judge-1.0.0", fit_rows: 40, dataset: run.dataset, before: report.before, reports: [report] },
    sightings: [seen],
    drifted: true,
    unfit: null,
    notes: ["The route by sim is not used: other words."],
  });
});

test("the overview reports versions that were stored by a program with other prompts, and changed entries", () => {
  const shown = (version: Parameters<typeof recalibrated>[0]) =>
    decisionOverview(
      { versions: new Map([[version.id, version]]), aliases: new Map() },
      {
        sightings: [],
        health: { status: "ok", models: 1, unfit: [], unfit_routes: [], drifted: [] },
        priceOf: () => null,
      },
    )[0];
  const fitted = versionOfRow(stored, origin)!;
  expect(shown(fitted)).toMatchObject({ notes: [], inputPrice: null });
  expect(shown({ ...fitted, hash: "of-other-prompts" })?.notes).toEqual([
    expect.stringContaining("Calibrate it again"),
  ]);
  expect(shown({ ...fitted, edited: true })?.notes).toEqual([expect.stringContaining("was changed")]);
  // A version from a provider's list was never stored, so it cannot differ from a stored one.
  expect(shown({ ...fitted, hash: "x", createdAtMs: null })?.notes).toEqual([]);
});

test.each([null, {}, { before: {}, after: {} }, { before: { logLoss: 1 }, after: { logLoss: 1 } }])(
  "%p is no measurement",
  (value) => {
    expect(readMeasurement(value)).toBeUndefined();
  },
);

test("a measurement of an older program is shown without dataset and bins", () => {
  const { before, after } = report;
  expect(readMeasurement({ before, after, from: "x", fit_rows: 3 })).toEqual({
    from: "x",
    fit_rows: 3,
    before,
    after,
    reports: [],
  });
});
