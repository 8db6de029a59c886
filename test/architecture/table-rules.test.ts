// Checks that no table is read with a name from outside, and shows the rule failing on a planted violation.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFiles } from "./source.ts";
import { openTableReads } from "./table-rules.ts";

const sources = await readFiles(join(import.meta.dir, "../.."), ["src"]);

test("tables of any text are read by their own entries alone", () => {
  const { looked, violations } = openTableReads(sources);
  expect(looked).toBeGreaterThan(40);
  expect(violations).toEqual([]);
});

test("a table that is read with any text is noticed", () => {
  const planted = new Map([
    [
      "src/web/a.ts",
      "export const A: Readonly<Record<string, string>> = { a: 'b' };\nconst B = { a: 'b' };\nA['a'];\nA[name];\nB[name];\n",
    ],
    ["src/web/b.ts", 'import { A as C } from "./a.ts";\nC[name ?? ""];\nentryOf(C, name);\n'],
  ]);
  expect(openTableReads(planted).violations).toEqual(["src/web/a.ts: A[name]", 'src/web/b.ts: C[name ?? ""]']);
});
