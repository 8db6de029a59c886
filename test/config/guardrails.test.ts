// What is wrong with guardrails is told with its key.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";

const pattern = (source: string) => ({ kind: "pattern", patterns: { P: source } });

const WRONG: readonly (readonly [string, readonly unknown[], string])[] = [
  ["a kind that there is not", [{ name: "a", check: { kind: "magic" } }], "guardrails[0].check.kind: expected one of"],
  ["no name", [{ check: { kind: "pii" } }], "guardrails[0].name: is required"],
  ["a name for a header", [{ name: "a b", check: { kind: "pii" } }], "guardrails[0].name: expected letters"],
  ["one name twice", [1, 2].map(() => ({ name: "a", check: { kind: "pii" } })), "already taken by guardrails[0]"],
  [
    "a reference",
    [{ name: "a", check: pattern("(a)\\1") }],
    "guardrails[0].check.patterns.P: cannot be used: references",
  ],
  ["no pattern", [{ name: "a", check: { kind: "pattern" } }], "needs at least one entry"],
  ["no words", [{ name: "a", check: { kind: "words" } }], "needs words or file"],
  [
    "a mask of what finds nothing",
    [{ name: "a", check: { kind: "schema", schema: { type: "string" } }, action: "mask" }],
    "guardrails[0].action: expected deny or note",
  ],
  ["no schema", [{ name: "a", check: { kind: "schema" } }], "guardrails[0].check.schema: is required"],
  [
    "a wrong schema",
    [{ name: "a", check: { kind: "schema", schema: { type: "magic" } } }],
    "guardrails[0].check.schema: cannot be used",
  ],
  [
    "a schema for requests",
    [{ name: "a", on: ["input"], check: { kind: "schema", schema: { type: "string" } } }],
    "guardrails[0].on: expected output",
  ],
  ["no address", [{ name: "a", check: { kind: "webhook" } }], "guardrails[0].check.url: is required"],
  [
    "no secret",
    [{ name: "a", check: { kind: "webhook", url: "http://h/" } }],
    "alerts.webhook_secret: is required: it signs what guardrails[0] sends",
  ],
  [
    "no decision model",
    [{ name: "a", check: { kind: "decision", question: { instructions: "?" } } }],
    "guardrails[0].check.model: is required",
  ],
  [
    "no question",
    [{ name: "a", check: { kind: "decision", model: "m" } }],
    "guardrails[0].check.question: needs instructions",
  ],
  [
    "another question",
    [{ name: "a", check: { kind: "decision", model: "m", question: { type: "score", instructions: "?" } } }],
    "guardrails[0].check.question.type: expected noul",
  ],
  [
    "no probability",
    [{ name: "a", check: { kind: "decision", model: "m", question: { instructions: "?" }, at_least: 2 } }],
    "guardrails[0].check.at_least: expected a number from 0 to 1",
  ],
  ["what cannot be found", [{ name: "a", check: { kind: "pii", find: ["shoe"] } }], "check.find[0]: expected one of"],
];

test.each(WRONG)("a wrong guardrail is refused with its key: %s", (_, guardrails, problem) => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-guardrails-"));
  const file = join(dir, "a.yaml");
  writeFileSync(file, JSON.stringify({ guardrails }));
  const result = loadConfig({ file, env: {}, cwd: dir });
  rmSync(dir, { recursive: true });
  expect(result.ok ? [] : result.problems.join("\n")).toContain(problem);
});
