// `sallyport guardrail test` on labelled texts.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../decisions/command.ts";
import { startUpstream } from "../support/upstream.ts";

const dir = mkdtempSync(join(tmpdir(), "sallyport-guardrail-"));
const upstream = startUpstream(({ json }) => {
  const state = String(json?.["state"]);
  if (state === "down") return new Response("", { status: 500 });
  const noul = state.includes("bomb") ? 0.9 : 0.1;
  return Response.json({ model: "j", answers: { asked: { type: "noul", noul } }, usage: { input_tokens: 1_000_000 } });
});
const rows = (...all: readonly (readonly [string, boolean])[]) =>
  writeFileSync(join(dir, "t.jsonl"), all.map(([text, label]) => JSON.stringify({ text, label })).join("\n"));

beforeAll(() => {
  const question = { instructions: "Is it harmful?" };
  const routes = [{ provider: "up", model: "j" }];
  writeFileSync(
    join(dir, "sallyport.yaml"),
    JSON.stringify({
      data_dir: dir,
      providers: {
        up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      },
      decisions: { models: [{ id: "judge", backend: { kind: "systemone", routes }, prices: { input: 2 } }] },
      guardrails: [
        { name: "mail", check: { kind: "pii", find: ["email"] }, action: "mask" },
        { name: "harm", on: ["input"], check: { kind: "decision", model: "judge", question, at_least: 0.5 } },
        { name: "shape", check: { kind: "schema", schema: { type: "number" } } },
      ],
    }),
  );
});
afterAll(async () => {
  await upstream.stop();
  rmSync(dir, { recursive: true });
});

async function measured(name: string): Promise<Record<string, unknown>> {
  const { code, out, err } = await runCommand(dir, [
    "guardrail",
    "test",
    name,
    "--data",
    join(dir, "t.jsonl"),
    "--json",
  ]);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as Record<string, unknown>;
}

test("a check that finds parts of texts", async () => {
  rows(
    ["ada@example.com", true],
    ["Hi bob@example.com", true],
    ["nobody", true],
    ["x@example.com", false],
    ["", false],
  );
  expect(await measured("mail")).toMatchObject({
    ...{ rows: 5, labelled: 3, found: 3, failed: 0, cost_usd: 0 },
    ...{ precision: 0.667, precision_95: "0.208 to 0.939", recall: 0.667, recall_95: "0.208 to 0.939" },
  });
});

test("a decision, with its cost; a row that fails is counted apart", async () => {
  rows(["a bomb", true], ["a cake", false], ["down", true]);
  const shown = await measured("harm");
  expect(shown).toMatchObject({ rows: 3, labelled: 1, found: 1, failed: 1, precision: 1, recall: 1 });
  expect(Number(shown["cost_usd"])).toBeGreaterThan(0);
  expect(Number(shown["ms_p95"])).toBeGreaterThan(0);
});

test("a schema: what does not fit is found", async () => {
  rows(["3", false], ["three", true]);
  expect(await measured("shape")).toMatchObject({ precision: 1, recall: 1 });
});

test.each([
  ["a guardrail that there is not", "other", '{"text":"a","label":true}', 'there is no guardrail "other"'],
  ["no label", "mail", '{"text":"a"}', '"label" must be true or false'],
  ["no JSON", "mail", "a", "line 1: expected a JSON object"],
])("%s is refused", async (_, name, line, problem) => {
  writeFileSync(join(dir, "t.jsonl"), line);
  const { code, err } = await runCommand(dir, ["guardrail", "test", name, "--data", join(dir, "t.jsonl")]);
  expect(code).toBe(1);
  expect(err).toContain(problem);
});
