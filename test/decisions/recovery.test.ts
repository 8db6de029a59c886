// A complete calibration of a simulated model: the fit recovers the parameters of the simulation.

import { expect, test } from "bun:test";
import { type Habits, simulatedUpstream } from "../../scripts/decisions/simulated.ts";
import {
  type CalibrationRun,
  type LabelledRow,
  readLabelledRows,
  runCalibration,
} from "../../src/decisions/calibration/calibrate.ts";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { versionOfConfig, WITHOUT_CALIBRATION } from "../../src/decisions/models/versions.ts";

const COLOURS = ["red", "green", "blue", "black"];

function rowsOf(count: number, question: unknown, labels: readonly unknown[]): LabelledRow[] {
  const random = seeded(count);
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ state: `row ${at}`, question, label: labels[Math.floor(random() * labels.length)] }),
  );
  return readLabelledRows(lines.join("\n"));
}

const NOUL = (count: number) => rowsOf(count, { type: "noul", instructions: "Is it?" }, ["true", "false"]);
const CHOICE = (count: number) =>
  rowsOf(count, { type: "choice", criteria: Object.fromEntries(COLOURS.map((one) => [one, null])) }, COLOURS);
const SCORE = (count: number) => rowsOf(count, { type: "score", criteria: ["low", "middle", "high"] }, [0, 1, 2]);

async function calibrated(rows: readonly LabelledRow[], habits: Partial<Habits>, orders = 2): Promise<CalibrationRun> {
  const route = { provider: "simulated", model: "simulated-1", path: "", priority: 1, weight: 1 };
  const backend = {
    kind: "logprobs" as const,
    routes: [route],
    limits: {},
    orders,
    concurrency: 8,
    minLabelMass: 0.5,
    prior: "none" as const,
  };
  const entry = {
    id: "x-1.0.0",
    name: "",
    description: "",
    tier: "free" as const,
    aliases: [],
    calibration: "",
    backend,
  };
  const all = { skill: 1.3, sharpness: 1, yes: 0, firstLetters: 0, seed: 1, ...habits };
  return runCalibration(versionOfConfig(entry, WITHOUT_CALIBRATION), rows, { upstream: simulatedUpstream(rows, all) });
}

test("temperature and a bias for yes", async () => {
  const { calibration, reports } = await calibrated(NOUL(1600), { sharpness: 2, yes: 0.8, firstLetters: 0.7 });
  const { temperature, bias } = calibration.buckets["noul"]!;
  expect(Math.abs(temperature - 2)).toBeLessThan(0.35);
  expect(Math.abs(bias! + 0.8)).toBeLessThan(0.25);
  const { before, after } = reports[0]!;
  expect(after.logLoss).toBeLessThan(before.logLoss - 0.05);
  expect(after.ece).toBeLessThan(0.06);
});

test("temperature and a bias for the first letters with a single order", async () => {
  const { calibration, reports } = await calibrated(CHOICE(1000), { sharpness: 2.5, firstLetters: 0.9 }, 1);
  const { temperature, positions } = calibration.buckets["choice:3-5"]!;
  expect(Math.abs(temperature / 2.5 - 1)).toBeLessThan(0.1);
  [0.9, 0.3, -0.3, -0.9].forEach((gain, at) => {
    expect(Math.abs(positions!["4"]![at]! - gain)).toBeLessThan(0.05);
  });
  expect(reports[0]!.after.accuracy).toBeGreaterThan(reports[0]!.before.accuracy);
  expect(reports[0]!.after.ece).toBeLessThan(reports[0]!.before.ece / 3);
});

test("fitted temperatures recover the truth from an underconfident model", async () => {
  const { calibration } = await calibrated(CHOICE(1000), { sharpness: 0.5 });
  expect(Math.abs(calibration.buckets["choice:3-5"]!.temperature / 0.5 - 1)).toBeLessThan(0.12);
});

test.each([
  ["noul", NOUL],
  ["choice", CHOICE],
  ["score", SCORE],
])("a well-calibrated %s model is not made worse by few rows", async (type, rows) => {
  // Levels next to the correct one are confused with it more often than the model's probabilities say, so that such a model is
  // not perfectly calibrated itself.
  const habits = type === "score" ? { skill: 0.4 } : {};
  let lost = 0;
  const runs = 6;
  for (let seed = 1; seed <= runs; seed++) {
    const { reports } = await calibrated(rows(140), { ...habits, seed });
    lost += (reports[0]!.after.logLoss - reports[0]!.before.logLoss) / runs;
  }
  expect(lost).toBeLessThan(0.006);
});

test.each<[unknown, unknown, number]>([
  [{ type: "noul", instructions: "?" }, true, 0],
  [{ type: "noul", instructions: "?" }, "false", 1],
  [{ type: "noul", instructions: "?" }, "yes", 0],
  [{ type: "noul", instructions: "?" }, "no", 1],
  [{ type: "noul", instructions: "?" }, 1, 0],
  [{ type: "noul", criteria: { true: "x" } }, 0, 1],
  [{ type: "choice", criteria: { yes: null, "1": null } }, "yes", 1],
  [{ type: "choice", criteria: { yes: null, "1": null } }, 1, 0],
  [{ type: "score", criteria: ["low", "high"] }, 1, 1],
  [{ type: "score", criteria: ["low", "high"] }, "1", 1],
  [{ type: "score", criteria: ["low", "middle", "high"] }, 1.4, 1],
])("of %p the label %p is the option at %i", (question, label, truth) => {
  const [row] = readLabelledRows(JSON.stringify({ state: "s", question, label }));
  expect(row?.truth).toBe(truth);
});

test.each<[string, string]>([
  ['{"state":"s","question":{"type":"noul","instructions":"?"},"label":"maybe"}', 'line 1: the label "maybe"'],
  ['{"state":"s","question":{"type":"noul","instructions":"?"}}', "line 1: the label undefined"],
  ['{"state":"s","question":{"type":"score","criteria":["a","b"]},"label":2}', "line 1: the label 2"],
  ['{"state":"s","question":{"type":"score","criteria":["a","b"]},"label":""}', 'line 1: the label ""'],
  ['{"state":"s","question":{"type":"choice","criteria":{"a":null}},"label":"A"}', 'line 1: the label "A"'],
  ['\n\n{"state":', "line 3: JSON"],
  ["[1]", "line 1: expected a JSON object"],
  ['{"question":{"type":"noul","instructions":"?"},"label":true}', "line 1: 'state'"],
  ['{"state":"s","question":{"type":"x"},"label":true}', "line 1: A question's 'type'"],
])("%s is not a valid row, and its line is named", (text, problem) => {
  expect(() => readLabelledRows(text)).toThrow(problem);
});
