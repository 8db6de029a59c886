// The list of stages: complete, without repetitions, and described in its order.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ChatTurn } from "../../../src/gateway/centre/stage.ts";
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

test("a stage that looks for a word in the body finds it in every spelling of JSON", async () => {
  const words = ['"compaction', '"context_management', "file-", '"image"'];
  const stages = createStages({ budgets: {}, history: {} } as StageDeps);
  const opened = (stage: string, text: string) =>
    stages
      .find(({ name }) => name === stage)
      ?.open({ text, format: { entries: {} }, chat: {} } as unknown as ChatTurn) !== undefined;
  for (const stage of ["records", "files", "compaction", "images"]) {
    const found = words.filter((word) => opened(stage, `{"a":[${word}]}`));
    expect([stage, found.length > 0, opened(stage, '{"a":["word"]}')]).toEqual([stage, true, false]);
    for (const word of found) {
      const spelled = word.replace(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
      expect([stage, word, opened(stage, `{"a":[${spelled}]}`)]).toEqual([stage, word, true]);
    }
  }
  // No other stage looks at the text by itself.
  const folder = join(ROOT, "src/gateway/stages");
  const files = [...new Bun.Glob("*/stage.ts").scanSync({ cwd: folder })];
  const texts = await Promise.all(files.map((path) => Bun.file(join(folder, path)).text()));
  expect(files.filter((_, at) => /\btext\.(?:includes|indexOf|search|match)\(/.test(texts[at] ?? ""))).toEqual([]);
});
