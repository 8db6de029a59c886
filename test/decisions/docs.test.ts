// The examples in docs/decisions.md match the program's output.

import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { readLabelledRows } from "../../src/decisions/calibration/calibrate.ts";
import { snippetsUnder } from "../docs/snippets.ts";
import { startGateway, tempDir } from "./support.ts";

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

test("the answer is that of the built-in model to that request", async () => {
  const asked = JSON.parse(/-d '(\{[\s\S]*?\})'\n/.exec(block("Typed decisions", "sh"))![1]!);
  const gateway = await startGateway({});
  const { body } = await gateway.post("/v1/systemone", asked, await gateway.key());
  await gateway.stop();
  const rounded = JSON.parse(JSON.stringify(body), (_, value) =>
    typeof value === "number" ? Math.round(value * 100) / 100 : value,
  );
  expect(rounded).toEqual(JSON.parse(block("Typed decisions", "json")));
});
