// The list of stages: complete, without repetitions, and described in its order.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createStages, type StageDeps } from "../../../src/gateway/stages/index.ts";

const ROOT = join(import.meta.dir, "../../..");
// The stages are only created, and need nothing for it.
const names = createStages({ budgets: {}, history: {} } as StageDeps).map(({ name }) => name);

test("no stage is listed twice, and every folder with a stage is in the list", () => {
  expect(new Set(names).size).toBe(names.length);
  const folder = join(ROOT, "src/gateway/stages");
  const paths = [...new Bun.Glob("*/stage.ts").scanSync({ cwd: folder })];
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.map((path) => path.split("/")[0] ?? "").filter((name) => !names.includes(name))).toEqual([]);
  expect(readdirSync(folder)).toContain("index.ts");
});

test("ARCHITECTURE.md names the stages in the order of the list", async () => {
  const text = (await Bun.file(join(ROOT, "ARCHITECTURE.md")).text()).replace(/\s+/g, " ");
  expect(text).toContain(`in this order: ${names.join(", ")}.`);
});
