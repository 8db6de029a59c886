// Measures how much a model's preference for positions changes its answers, by the number of orders, with its prior
// removed: the mean total variation from the correct probabilities. Usage: bun scripts/decisions/positions.ts [--bias
// X] [--trials N]

import { parseArgs } from "node:util";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { LEGACY_REVISION, REVISION } from "../../src/decisions/revision.ts";
import { answerOf, SPEC, totalVariation, truthOf, worthsOf } from "./consistent.ts";

const { values } = parseArgs({
  options: { bias: { type: "string", default: "1.5" }, trials: { type: "string", default: "30" } },
});
const bias = Number(values.bias);
const SHAPES: Readonly<Record<string, (at: number, count: number) => number>> = {
  linear: (at, count) => bias * (1 - (2 * at) / (count - 1)),
  "first alone": (at) => (at === 0 ? bias : 0),
  "both ends": (at, count) => (at === 0 || at === count - 1 ? bias : 0),
};

console.log("| liking | options | orders | former | now | with prior |");
console.log("|---|---|---|---|---|---|");
for (const [name, gain] of Object.entries(SHAPES)) {
  for (const count of [3, 5, 8]) for (const orders of [1, 2, 3, 4, 6, 8, 10]) await row(name, gain, { count, orders });
}

async function row(
  name: string,
  gain: (at: number, count: number) => number,
  { count, orders }: { count: number; orders: number },
): Promise<void> {
  const random = seeded(count);
  const sums = [0, 0, 0];
  for (let trial = 0; trial < Number(values.trials); trial++) {
    const worths = worthsOf(count, 1, random);
    const truth = truthOf(worths);
    const habits = { worths, none: { worth: 0 }, gain };
    const specs = [
      { ...SPEC, orders, revision: LEGACY_REVISION },
      { ...SPEC, orders, revision: REVISION },
      // The trials share only the question, as requests of one version do.
      {
        ...SPEC,
        orders,
        revision: REVISION,
        prior: "content_free" as const,
        routes: [{ ...SPEC.routes[0]!, path: name }],
      },
    ];
    for (const [at, spec] of specs.entries()) {
      sums[at]! += totalVariation(truth, (await answerOf(habits, spec)).probabilities) / Number(values.trials);
    }
  }
  console.log(`| ${name} | ${count} | ${orders} | ${sums.map((sum) => sum.toFixed(4)).join(" | ")} |`);
}
