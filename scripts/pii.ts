// Measures what guardrails of the kind `pii` find in made-up texts of eight locales, among what only looks like personal data.
//
//   bun scripts/pii.ts [--texts 5000] [--seed 1] [--wrong]      --wrong also prints what was missed and what was found in error

import { parseArgs } from "node:util";
import { plantedTexts } from "./pii/corpus.ts";
import { measurePii, tableOf } from "./pii/measure.ts";

const { values } = parseArgs({
  options: { texts: { type: "string" }, seed: { type: "string" }, wrong: { type: "boolean" } },
});
const { kinds, wrong } = measurePii(plantedTexts(Number(values.texts ?? 5000), Number(values.seed ?? 1)));
console.log(tableOf(kinds));
if (values.wrong === true) for (const line of wrong.slice(0, 100)) console.log(line);
