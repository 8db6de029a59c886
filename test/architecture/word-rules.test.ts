// Holds names to one meaning each, and shows the rule failing on a planted violation.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFiles } from "./source.ts";
import { namesDeclaredTwice } from "./word-rules.ts";

const sources = await readFiles(join(import.meta.dir, "../.."), ["src"]);

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
