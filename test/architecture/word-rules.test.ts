// Checks that each exported name has one meaning and that the usual terms are used, and shows each rule failing on a planted
// violation.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFiles } from "./source.ts";
import { coinedWords, namelessTests, namesDeclaredTwice, numberedTests, vagueNames, writtenOut } from "./word-rules.ts";

const root = join(import.meta.dir, "../..");
const sources = await readFiles(root, ["src"]);
const tests = await readFiles(root, ["test"]);

test("an exported name is declared in one file", () => {
  const { looked, violations } = namesDeclaredTwice(sources);
  expect(looked).toBeGreaterThan(1000);
  expect(violations).toEqual([]);
});

test("a name that two files declare is noticed, also where one declares a type and the other a value", () => {
  const planted = new Map([
    ["src/http/a.ts", "export interface Exchange {}\n// export const other = 1;\n"],
    ["src/wire/b.ts", "export async function Exchange() {}\nexport const other = 1;\n"],
  ]);
  expect(namesDeclaredTwice(planted).violations).toEqual(["Exchange is declared in src/http/a.ts and src/wire/b.ts"]);
});

test("coined words stay out of code and comments", () => {
  const { looked, violations } = coinedWords(sources);
  expect(looked).toBeGreaterThan(100);
  expect(violations).toEqual([]);
});

test("a coined word is noticed in a comment and a name, and not in a text", () => {
  const planted = new Map([
    ["src/http/a.ts", "// A key of the house that nobody has.\nconst politeness = 1;\n"],
    ["src/http/b.ts", 'const text = "Nobody knocked at the door.";\nconst words = /\\b(?:door|books)\\b/;\n'],
  ]);
  expect(coinedWords(planted).violations.map((one) => one.split(": say")[0])).toEqual([
    'src/http/a.ts:1: "of the house"',
    'src/http/a.ts:2: "politeness"',
  ]);
});

test("what a function is there for is not written out again", () => {
  const { looked, violations } = writtenOut(sources);
  expect(looked).toBeGreaterThan(100);
  expect(violations).toEqual([]);
});

test("what is written out is noticed, but for a part of a time and the pages of the dashboard", () => {
  const time = "new Date(clock.now()).toISOString()";
  const planted = new Map([
    ["src/http/a.ts", `const at = ${time};\nconst day = ${time}.slice(0, 10);\n`],
    ["src/http/b.ts", 'if (typeof body === "object" && body !== null && !Array.isArray(body)) read(body);\n'],
    ["src/dashboard/ui/c.ts", `const at = ${time};\n`],
  ]);
  expect(writtenOut(planted).violations.map((one) => one.split(": ")[2])).toEqual([
    "use isoTime of src/base/iso-time.ts",
    "use isRecord of src/base/json-object.ts",
  ]);
});

test("a local value that is in use over many lines has a name that says what it is", () => {
  const { looked, violations } = vagueNames(sources);
  expect(looked).toBeGreaterThan(300);
  expect(violations).toEqual([]);
});

test("a vague name is noticed where it is in use over many lines, but not a member's name or a verb", () => {
  const far = "\n".repeat(8);
  const planted = new Map([
    ["src/http/a.ts", `const left = 1;${far}use({ left });\nfunction f(all: string[]) {${far}return all;\n}\n`],
    ["src/http/b.ts", `const { done } = work;${far}use(done);\nconst open = () => {};${far}open();\n`],
    [
      "src/http/c.ts",
      `const one = 1;\nuse(one);${far}list.map((one) => one.left);\nfor (const said of list) use(said);\n`,
    ],
    ["src/http/d.ts", `function f(open: () => void) {${far}open();\n}\nconst { done: all } = work;${far}use(all);\n`],
  ]);
  expect(vagueNames(planted).violations.map((found) => found.split(" is in")[0])).toEqual([
    'src/http/a.ts:1: "left"',
    'src/http/a.ts:10: "all"',
    'src/http/d.ts:11: "all"',
  ]);
});

test("a test outside a group has a name that says what its cases show", () => {
  const { looked, violations } = namelessTests(tests);
  expect(looked).toBeGreaterThan(1000);
  expect(violations).toEqual([]);
});

test("a name of placeholders alone is noticed, but not in a group that says what it shows", () => {
  const planted = new Map([
    [
      "test/a/a.test.ts",
      'test.each([\n  ["a"],\n])("%s", () => {});\nfor (const x of []) test(`${x}: ${1}`, () => {});\n',
    ],
    ["test/a/b.test.ts", 'describe("a model", () => {\n  test.each([])("%s", () => {});\n});\n'],
    ["test/a/c.test.ts", 'test.skipIf(no).each([])("a model of $kind", () => {});\n'],
  ]);
  expect(namelessTests(planted).violations.map((found) => found.split(": say")[0])).toEqual([
    'test/a/a.test.ts:3: "%s"',
    'test/a/a.test.ts:4: "${x}: ${1}"',
  ]);
});

test("no test is named by its number in a list", () => {
  const { looked, violations } = numberedTests(tests);
  expect(looked).toBeGreaterThan(1000);
  expect(violations).toEqual([]);
});

test("a numbered test is noticed, and a number that says something is not", () => {
  const planted = new Map([
    ["test/a/a.test.ts", 'test("case 3", () => {});\ntest.each(rows)("%# of the table", () => {});\n'],
    [
      "test/a/b.test.ts",
      'for (const index of [1]) test(`spelling ${index}`, () => {});\ntest("a row of 7", () => {});\n',
    ],
  ]);
  expect(numberedTests(planted).violations.map((one) => one.split(": name")[0])).toEqual([
    'test/a/a.test.ts: "case 3"',
    'test/a/a.test.ts: "%# of the table"',
    "test/a/b.test.ts: `spelling ${index}`",
  ]);
});
