// Checks that every source file has a test: each is reached by the imports of one (`bun scripts/tests-of.ts FILE`).

import { expect, test } from "bun:test";
import { join } from "node:path";
import { testsBySource } from "./reach.ts";
import { readFiles } from "./source.ts";

const files = await readFiles(join(import.meta.dir, "../.."), ["src", "test"]);

/** Files that run outside the tests' process: in a browser, or in a program that a test starts. */
const COVERED_ELSEWHERE: readonly (readonly [where: RegExp, test: string])[] = [
  [/^src\/dashboard\/ui\//, "test/dashboard/browser.test.ts"],
  [/^src\/(?:main|cli\/(?:fetch-cap|io))\.ts$/, "test/cli/up.test.ts"],
];

test("every source file is reached by a test", () => {
  const reached = testsBySource(files);
  const sources = [...files.keys()].filter((path) => path.startsWith("src/") && !path.endsWith(".d.ts"));
  expect(sources.length).toBeGreaterThan(500);
  const alone = sources.filter((path) => !reached.has(path) && !COVERED_ELSEWHERE.some(([where]) => where.test(path)));
  expect(alone).toEqual([]);
  expect(COVERED_ELSEWHERE.filter(([, covering]) => !files.has(covering))).toEqual([]);
});

test("a file that no test imports is noticed", () => {
  const planted = new Map([
    ["src/base/a.ts", 'import { b } from "./b.ts";'],
    ["src/base/b.ts", ""],
    ["src/base/c.ts", ""],
    ["test/base/a.test.ts", 'import { a } from "../../src/base/a.ts";'],
  ]);
  const reached = testsBySource(planted);
  expect(reached.get("src/base/b.ts")).toEqual([{ test: "test/base/a.test.ts", steps: 2 }]);
  expect(reached.has("src/base/c.ts")).toBe(false);
});
