// Measures the effect of fitting a calibration to labelled rows, with a simulated model whose habits are known. For
// each data file it prints the measurements on held-out rows before and after the fit, and the habits that the fit
// found. Usage:
// bun scripts/decisions/evaluate.ts DIRECTORY|FILE… [--seeds N] [--sharpness X] [--yes X] [--first X] [--skill X]

import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { readLabelledRows, runCalibration } from "../../src/decisions/calibration/calibrate.ts";
import type { CalibrationMetrics } from "../../src/decisions/calibration/metrics.ts";
import { versionOfConfig, WITHOUT_CALIBRATION } from "../../src/decisions/models/versions.ts";
import { type Habits, simulatedUpstream } from "./simulated.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    skill: { type: "string", default: "1.3" },
    sharpness: { type: "string", default: "2" },
    yes: { type: "string", default: "0.8" },
    first: { type: "string", default: "0.6" },
  },
});
const files = positionals.flatMap((path) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith(".jsonl"))
        .sort()
        .map((name) => join(path, name))
    : [path],
);
if (files.length === 0) throw new Error("name a directory of JSON lines, or files");

const route = { provider: "simulated", model: "simulated-1", path: "", priority: 1, weight: 1 };
const version = versionOfConfig(
  {
    id: "simulated-1.0.0",
    name: "",
    description: "",
    tier: "free",
    aliases: [],
    calibration: "",
    backend: {
      kind: "logprobs",
      routes: [route],
      limits: {},
      orders: 2,
      concurrency: 8,
      minLabelMass: 0.5,
      prior: "none" as const,
    },
  },
  WITHOUT_CALIBRATION,
);

console.log(
  "| data | n | accuracy | majority | log-loss | after | gain ± s.e. | Brier | after | ECE (by chance, 95 % below) | after (likewise) | found |",
);
console.log("|---|---|---|---|---|---|---|---|---|---|---|---|");
for (const file of files) await evaluate(file);

async function evaluate(file: string): Promise<void> {
  const rows = readLabelledRows(await Bun.file(file).text());
  const [before, after]: [CalibrationMetrics[], CalibrationMetrics[]] = [[], []];
  const found: string[] = [];
  for (let seed = 1; seed <= Number(values.seeds); seed++) {
    const habits: Habits = {
      skill: Number(values.skill),
      sharpness: Number(values.sharpness),
      yes: Number(values.yes),
      firstLetters: Number(values.first),
      seed,
    };
    const run = await runCalibration(version, rows, { upstream: simulatedUpstream(rows, habits) });
    before.push(run.reports[0]!.before);
    after.push(run.reports[0]!.after);
    const [bucket] = Object.values(run.calibration.buckets);
    found.push(
      bucket === undefined
        ? "–"
        : `${bucket.temperature.toFixed(2)}${bucket.bias === undefined ? "" : `/${bucket.bias.toFixed(2)}`}`,
    );
  }
  const gains = before.map(({ logLoss }, at) => logLoss - after[at]!.logLoss);
  const gain = mean(gains);
  const error = Math.sqrt(mean(gains.map((one) => (one - gain) ** 2)) / Math.max(1, gains.length - 1));
  const of = (list: readonly CalibrationMetrics[], name: Exclude<keyof CalibrationMetrics, "rows">, digits = 3) =>
    mean(list.map((one) => one[name])).toFixed(digits);
  const ece = (list: readonly CalibrationMetrics[]) =>
    `${of(list, "ece")} (${of(list, "eceByChance")}, ${of(list, "eceByChanceMax")})`;
  const cells = [
    basename(file).replace(/(\.dev)?\.jsonl$/, ""),
    before[0]!.rows,
    `${of(before, "accuracy")} → ${of(after, "accuracy")}`,
    of(before, "majority"),
    of(before, "logLoss"),
    of(after, "logLoss"),
    `${gain.toFixed(3)} ± ${error.toFixed(3)}`,
    of(before, "brier"),
    of(after, "brier"),
    ece(before),
    ece(after),
    found.join(" "),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, one) => sum + one, 0) / list.length;
}
