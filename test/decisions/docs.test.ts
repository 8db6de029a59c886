// The examples in docs/decisions.md match the program's output.

import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { answersView } from "../../src/decisions/api/answers.ts";
import { readLabelledRows } from "../../src/decisions/calibration/calibrate.ts";
import { readDecisionRequest } from "../../src/decisions/questions.ts";
import { snippetsUnder } from "../docs/snippets.ts";
import { tempDir } from "./support.ts";

const block = (heading: string, language: string) =>
  snippetsUnder("decisions.md", heading).find((one) => one.language === language)!.code;

test("the configuration is one", async () => {
  const dir = tempDir();
  const file = join(dir, "sallyport.yaml");
  await Bun.write(file, block("Models", "yaml"));
  const loaded = loadConfig({ file, env: {} });
  rmSync(dir, { recursive: true });
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  expect(loaded.config.decisions.models.map(({ backend }) => backend.kind)).toEqual([
    "systemone",
    "logprobs",
    "verbalized",
  ]);
});

test("the rows can be read", () => {
  expect(readLabelledRows(block("Calibration", "jsonl"))).toHaveLength(3);
});

test("the answer is what these probabilities make of that request", () => {
  const asked = JSON.parse(/-d '(\{[\s\S]*?\})'\n/.exec(block("Typed decisions", "sh"))![1]!);
  const shown = JSON.parse(block("Typed decisions", "json")).answers;
  const { questions } = readDecisionRequest(asked);
  const values: Record<string, number[]> = { angry: [0.93, 0.07], topic: [0.88, 0.12], urgency: [0.06, 0.38, 0.56] };
  const made = answersView(questions.map((question) => ({ question, probabilities: values[question.key]! })));
  const rounded = JSON.parse(JSON.stringify(made), (_, value) =>
    typeof value === "number" ? Math.round(value * 1e6) / 1e6 : value,
  );
  expect(rounded).toEqual(shown);
});
