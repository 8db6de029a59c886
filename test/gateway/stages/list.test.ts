// The list of stages: complete, without repetitions, and described in its order.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ChatTurn } from "../../../src/gateway/centre/stage.ts";
import { createStageLines, emptyStages, fillStages, type StageDeps } from "../../../src/gateway/stages/index.ts";

const ROOT = join(import.meta.dir, "../../..");
// The stages are only created, and need nothing for it.
const lines = createStageLines({ budgets: {}, history: {} } as StageDeps);
const names = lines.map(({ stage }) => stage.name);

/** For which requests each stage opens. A new stage must say it here. */
const OPENS: Record<string, string> = {
  debugging: "client row",
  choice: "client row",
  loading: "client",
  runs: "client",
  history: "client row",
  warmup: "client row",
  threads: "client row",
  files: "client row",
  records: "client row",
  limits: "client row",
  compaction: "client row",
  "chat-tools": "client row",
  guardrails: "client row inner",
  window: "client row",
  cache: "client",
  affinity: "client row",
  images: "client row",
  reasoning: "client row",
  tokens: "client",
  budgets: "client row inner",
  approvals: "client row",
};

test("each stage opens for the origins of the table, and the list of an origin holds no other", () => {
  expect(Object.fromEntries(lines.map(({ stage, opens }) => [stage.name, opens.join(" ")]))).toEqual(OPENS);
  for (const [origin, stages] of Object.entries(fillStages(emptyStages(), lines))) {
    const expected = names.filter((name) => OPENS[name]?.split(" ").includes(origin));
    expect([origin, stages.map(({ name }) => name)]).toEqual([origin, expected]);
  }
});

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
  const stages = lines.map(({ stage }) => stage);
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
