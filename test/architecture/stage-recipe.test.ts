// The recipe of a stage, performed in a copy of the repository: guardrails, a cache and tools are one folder and one line in the
// list each, with no change of the centre.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";
import { RULES } from "./rules.ts";
import { readFiles } from "./source.ts";
import { TOYS } from "./stage-toys.ts";
import { TOYS_TEST } from "./stage-toys-test.ts";

const TIMEOUT_MS = 120_000;

let copy: Copy;
let before: ReadonlyMap<string, string>;
beforeAll(async () => {
  copy = copyRepository();
  before = await readFiles(copy.dir, ["src"]);
  const list = "src/gateway/stages/index.ts";
  for (const [name, text] of Object.entries(TOYS)) {
    copy.add(`src/gateway/stages/${name}/stage.ts`, text);
    copy.addLine(list, "import type { GuardedFetch }", `import { ${name}Stage } from "./${name}/stage.ts";`);
    copy.addLine(list, "// Chooses among the routes", `    { stage: ${name}Stage, opens: ASKED },`);
  }
  copy.add("test/gateway/stages/toys.test.ts", TOYS_TEST);
});
afterAll(() => copy.remove());

test("guardrails, a cache and tools are one folder and one line in the list each", async () => {
  const after = await readFiles(copy.dir, ["src"]);
  const touched = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
  expect(touched.sort()).toEqual([
    "src/gateway/stages/check/stage.ts",
    "src/gateway/stages/index.ts",
    "src/gateway/stages/mask/stage.ts",
    "src/gateway/stages/repeats/stage.ts",
    "src/gateway/stages/tools/stage.ts",
  ]);
  const rules = RULES.filter(
    ({ name }) => name.startsWith("the gateway's centre") || name.startsWith("a stage is named"),
  );
  expect(rules.flatMap((rule) => rule.check(after).violations)).toEqual([]);
});

test(
  "they work, streamed and whole, relayed and translated",
  async () => {
    const { ok, text } = await copy.bun("test", "test/gateway/stages/toys.test.ts");
    expect(ok, text).toBe(true);
  },
  TIMEOUT_MS,
);
