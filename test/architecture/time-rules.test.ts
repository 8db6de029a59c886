import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFiles } from "./source.ts";
import { TIME_RULES } from "./time-rules.ts";

const real = await readFiles(join(import.meta.dir, "../.."), ["test"]);

test.each(TIME_RULES.map((rule) => [rule.name, rule] as const))("the tests hold: %s", (_name, rule) => {
  const { looked, violations } = rule.check(real);
  expect(looked).toBeGreaterThan(100);
  expect(violations).toEqual([]);
});

const NOW = "performance.now()";
test.each([
  ["a difference", `expect(${NOW} - began).toBeLessThan(5);`, 1],
  ["over lines", `expect(\n  Date.now() - began,\n).toBeLessThanOrEqual(5);`, 1],
  ["a name", "expect(elapsedMs).toBeLessThan(5);", 1],
  ["a lower bound", `expect(${NOW} - began).toBeGreaterThan(5);`, 0],
  ["a time of day", "expect(endsMs).toBeLessThanOrEqual(Date.now() + 5);", 0],
  ["two expectations", `expect(${NOW} - began).toBeGreaterThan(5);\nexpect(count).toBeLessThan(5);`, 0],
  ["on a machine that ran on", `await whileSteady(async () => expect(${NOW} - began).toBeLessThan(5));`, 0],
  ["in a comment", `// expect(${NOW} - began).toBeLessThan(5);`, 0],
])("durations are seen: %s", (_name, text, count) => {
  expect(TIME_RULES[0]?.check(new Map([["test/a.test.ts", text]])).violations).toHaveLength(count);
});

const SLEEP = "await Bun.sleep";
test.each([
  ["long", `  ${SLEEP}(300);`, 1],
  ["long, with underscores", `${SLEEP}(1_000);`, 1],
  ["short", `  ${SLEEP}(10);`, 0],
  ["with a reason", `  // Nothing says that nothing comes.\n  ${SLEEP}(300);`, 0],
  ["within a loop", `while (!isThere()) ${SLEEP}(300);`, 0],
])("pauses are seen: %s", (_name, text, count) => {
  expect(TIME_RULES[1]?.check(new Map([["test/a.test.ts", text]])).violations).toHaveLength(count);
});

test.each([
  ["the unit", `fc.string({ maxLength: 4, unit: "${"binary"}" })`, 1],
  ["a short one", `fc.string({ unit: "binary-ascii" })`, 0],
])("whole alphabets are seen: %s", (_name, text, count) => {
  expect(TIME_RULES[2]?.check(new Map([["test/a.test.ts", text]])).violations).toHaveLength(count);
});
