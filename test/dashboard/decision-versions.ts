// The decision models of a gateway that has run for months: several versions, of which one is worse and one has
// drifted.

import { measurementOf } from "../../src/decisions/calibration/measurement.ts";
import { type AnsweredRow, measureRows, reliability, seeded } from "../../src/decisions/calibration/metrics.ts";
import { decisionStore } from "../../src/store/decisions/decisions.ts";
import type { Store } from "../../src/store/engine/store.ts";

/** The part of the configuration that defines them. */
export const DECISION_CONFIG = {
  providers: { sim: { kind: "openai", base_url: "http://127.0.0.1:9/v1", discover: false } },
  decisions: {
    models: [
      {
        id: "judge-1.0.0",
        name: "House judge",
        aliases: ["judge-latest", "judge-stable"],
        backend: { kind: "logprobs", routes: [{ provider: "sim", model: "open-weights-instruct-9b-q4" }] },
      },
      {
        id: "an-organisation/a-decision-model-with-quite-a-long-name-2026-11-preview",
        tier: "pro",
        prices: { input: 0.5 },
        backend: { kind: "verbalized", routes: [{ provider: "sim", model: "small-1" }] },
      },
    ],
  },
  health: { probe: "off" },
};

/** Labelled rows; `sureness` sets how confident the model's answers are. */
function judged(rows: number, { sureness, options }: { sureness: number; options: number }): AnsweredRow[] {
  const random = seeded(rows * 7 + options);
  return Array.from({ length: rows }, () => {
    const scores = Array.from({ length: options }, () => random() * 2.4);
    const honest = softmax(scores);
    const drawn = random();
    let sum = 0;
    const sums = honest.map((p) => {
      sum += p;
      return sum;
    });
    const truth = Math.max(
      sums.findIndex((upTo) => drawn < upTo),
      0,
    );
    return { probabilities: softmax(scores.map((score) => score * sureness)), truth, label: String(truth) };
  });
}

function softmax(scores: readonly number[]): number[] {
  const powers = scores.map(Math.exp);
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function measured(before: number, after: number, rows = 420) {
  const reports = (
    [
      ["all", 3],
      ["noul", 2],
      ["choice", 4],
      ["score", 5],
    ] as const
  ).map(([type, options]) => {
    const count = type === "all" ? rows : Math.round(rows / 3);
    const [was, is] = [judged(count, { sureness: before, options }), judged(count, { sureness: after, options })];
    return {
      type,
      before: measureRows(was),
      after: measureRows(is),
      binsBefore: reliability(was),
      bins: reliability(is),
    };
  });
  const run = { dataset: { sha256: "4f".repeat(32), rows: rows * 2 }, fitRows: rows, reports };
  return measurementOf(run, "judge-1.0.0");
}

/** Stores a good and a bad fit of the first model, and the upstream models that answered for it. */
export async function seedVersions(store: Store): Promise<void> {
  const verbs = decisionStore(store);
  const origin = (await verbs.listDecisionVersions()).find(({ id }) => id === "judge-1.0.0");
  if (origin === undefined) throw new Error("the configured version was not stored");
  const calibration = {
    method: "fitted",
    buckets: {
      noul: { temperature: 1.8, bias: -0.42, rows: 140 },
      "choice:2": { temperature: 1.31, rows: 60 },
      "choice:3-5": {
        temperature: 2.07,
        rows: 220,
        positions: { "4": [0.31, 0.02, -0.12, -0.21], "5": [0.4, 0.1, 0, -0.2, -0.3] },
      },
    },
  };
  const record = { ...origin.record, calibration };
  const add = (id: string, metrics: object) =>
    verbs.addDecisionVersion({ id, origin: origin.id, hash: "c0ffee".repeat(10), record, metrics: { ...metrics } });
  await add("judge-1.1.0", measured(2.6, 1));
  await add("judge-1.2.0", measured(1, 3.2));
  for (const fingerprint of ["fp_1a2b", "fp_9f8e"]) {
    const sighting = { version: "judge-1.1.0", provider: "sim", upstreamModel: "open-weights-9b", fingerprint };
    await verbs.noteSighting(sighting);
  }
}
