// Rows that the model does not answer when a version is calibrated: a few are left out and named, many end the run.

import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.ts";
import { startFake, tempDir } from "./support.ts";

const UNSURE = "I would rather not say.";
const dir = tempDir();
const fake = startFake((body) => {
  const text = JSON.stringify(body.messages);
  const content = text.includes("dark") ? UNSURE : text.includes("good") ? '{"1":0.8,"2":0.2}' : '{"1":0.3,"2":0.7}';
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return Response.json({ id: "c", object: "chat.completion", created: 1, model: "m", choices });
});
afterAll(() => {
  fake.stop();
  rmSync(dir, { recursive: true });
});

async function calibrate(dark: readonly number[]) {
  const backend = { kind: "verbalized", orders: 1, routes: [{ provider: "one", model: "small" }] };
  const config = {
    data_dir: "./data",
    providers: { one: { kind: "openai", base_url: fake.url, api_key: "k", discover: false } },
    decisions: { models: [{ id: "opinion-1.0.0", backend }] },
  };
  await Bun.write(join(dir, "sallyport.yaml"), JSON.stringify(config));
  const question = { type: "noul", instructions: "Is it?" };
  const rows = Array.from({ length: 120 }, (_, at) => {
    const state = `${dark.includes(at + 1) ? "dark" : at % 2 === 0 ? "good" : "bad"} ${at}`;
    return JSON.stringify({ state, question, label: at % 2 === 0 });
  });
  await Bun.write(join(dir, "rows.jsonl"), rows.join("\n"));
  return runCommand(dir, ["calibrate", "--model", "opinion-1.0.0", "--data", join(dir, "rows.jsonl")]);
}

test("a few are left out, with their lines and what came", async () => {
  const { code, out, err } = await calibrate([7, 30]);
  expect([code, err]).toEqual([0, ""]);
  const why = `The question was not answered with JSON. It came: ${JSON.stringify(UNSURE)}`;
  expect(out).toContain(`line 7 is left out: ${why}\nline 30 is left out: ${why}\n`);
});

test("many end the run, which names a line, the model and what came", async () => {
  const { code, err } = await calibrate(Array.from({ length: 60 }, (_, at) => at + 1));
  expect(code).toBe(1);
  expect(err).toMatch(/line \d+: no usable answer of opinion-1\.0\.0 \(one\/small\), as for 12 other rows\./);
  expect(err).toContain(JSON.stringify(UNSURE));
  expect(err).not.toContain('"row"');
});
