// Checks that every source file has a test: each is reached by the imports of one (`bun scripts/tests-of.ts FILE`).

import { expect, test } from "bun:test";
import { join } from "node:path";
import { RUN_ELSEWHERE, testsBySource, testsOf } from "./reach.ts";
import { readFiles } from "./source.ts";

const files = await readFiles(join(import.meta.dir, "../.."), ["src", "test"]);

test("every source file is reached by a test", () => {
  const reached = testsBySource(files);
  const sources = [...files.keys()].filter((path) => path.startsWith("src/") && !path.endsWith(".d.ts"));
  expect(sources.length).toBeGreaterThan(500);
  const alone = sources.filter((path) => !reached.has(path) && !RUN_ELSEWHERE.some(([where]) => where.test(path)));
  expect(alone).toEqual([]);
  expect(RUN_ELSEWHERE.flatMap(([, tests]) => tests).filter((one) => !files.has(one))).toEqual([]);
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

test("the tests of a file are those with its name, those that run it and those that import it", () => {
  const planted = new Map([
    ["src/dashboard/ui/jobs.tsx", 'import { b } from "./b.ts";'],
    ["src/dashboard/ui/b.ts", ""],
    ["test/dashboard/jobs-pages.test.ts", ""],
    ["test/store/jobs.test.ts", ""],
    ["test/dashboard/b.test.ts", 'import { b } from "../../src/dashboard/ui/b.ts";'],
    ["test/dashboard/other.test.ts", 'import { b } from "../../src/dashboard/ui/b.ts";'],
  ]);
  const found = (path: string) => testsOf(path, planted).map(({ test, because }) => `${because}: ${test}`);
  const running = ["runs it: test/dashboard/browser.test.ts", "runs it: test/dashboard/every-page.test.ts"];
  expect(found("src/dashboard/ui/jobs.tsx")).toEqual(["its name: test/dashboard/jobs-pages.test.ts", ...running]);
  expect(found("src/dashboard/ui/b.ts")).toEqual([
    "its name: test/dashboard/b.test.ts",
    ...running,
    "imports it: test/dashboard/other.test.ts",
  ]);
});
