// Compares answers about many options with the probabilities of a consistent model, for several weights of "none of
// these". It prints the worst and the mean total variation, for the prompts and formulas of this release and of the
// previous one.
// Usage: bun scripts/decisions/many-options.ts [--trials N] [--first X] [--variants X]

import { parseArgs } from "node:util";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { LEGACY_REVISION, REVISION } from "../../src/decisions/revision.ts";
import { answerOf, type NoneHabit, SPEC, totalVariation, truthOf, worthsOf } from "./consistent.ts";

const { values } = parseArgs({
  options: {
    trials: { type: "string", default: "20" },
    first: { type: "string", default: "0" },
    variants: { type: "string", default: "0" },
    lead: { type: "string", default: "8" },
    shows: { type: "string" },
  },
});
const habit = { first: Number(values.first), variants: Number(values.variants) };
const limits: Readonly<Record<string, number>> =
  values.shows === undefined ? {} : { top_logprobs: Number(values.shows) };
const NONES: readonly NoneHabit[] = [{ worth: -4 }, { worth: 0 }, { worth: 4 }, { worth: 8 }, "complement"];

console.log("| options | none | calls | true top | former top | top | former TV (worst) | TV (worst) |");
console.log("|---|---|---|---|---|---|---|---|");
for (const count of [17, 20, 21, 77, 150, 255]) for (const none of NONES) await row(count, none);

async function row(count: number, none: NoneHabit): Promise<void> {
  const random = seeded(count);
  const [truths, formerTops, tops]: [number[], number[], number[]] = [[], [], []];
  const [former, now]: [number[], number[]] = [[], []];
  let calls = 0;
  for (let trial = 0; trial < Number(values.trials); trial++) {
    const worths = worthsOf(count, Number(values.lead), random);
    const truth = truthOf(worths);
    const top = [...truth].sort((a, b) => b[1] - a[1])[0]![0];
    const before = await answerOf({ worths, none, ...habit }, { ...SPEC, limits, revision: LEGACY_REVISION });
    const after = await answerOf({ worths, none, ...habit }, { ...SPEC, limits, revision: REVISION });
    calls = after.calls;
    if (after.calls !== before.calls) throw new Error("it is asked more often than before");
    truths.push(truth.get(top)!);
    formerTops.push(before.probabilities.get(top)!);
    tops.push(after.probabilities.get(top)!);
    former.push(totalVariation(truth, before.probabilities));
    now.push(totalVariation(truth, after.probabilities));
  }
  const name = none === "complement" ? none : `worth ${none.worth}`;
  const pair = (list: readonly number[]) => `${mean(list)} (${Math.max(...list).toFixed(4)})`;
  console.log(
    `| ${count} | ${name} | ${calls} | ${mean(truths)} | ${mean(formerTops)} | ${mean(tops)} | ${pair(former)} | ${pair(now)} |`,
  );
}

function mean(list: readonly number[]): string {
  return (list.reduce((sum, one) => sum + one, 0) / list.length).toFixed(4);
}
