// What a start loads is memory that every idle gateway holds, and time that every start takes. What only some requests need
// is imported within the function that needs it: `await import("…")`, or `lazily(() => require("…"))` where nothing can wait.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { codeOf, readFiles } from "./source.ts";
import { startCode } from "./start-code.ts";

const ENTRIES = ["src/main.ts", "src/cli/serve.ts"];
/** Characters of our own code, without comments. A page, an endpoint or a format adds a few thousand. */
const CHARS_MAX = 2_400_000;
/** Each was measured: the others cost megabytes, or are not needed before a request. */
const OUTSIDE: readonly string[] = [
  "@sinclair/typebox",
  "bun:sqlite",
  "drizzle-orm",
  "node:buffer",
  "node:fs",
  "node:fs/promises",
  "node:os",
  "node:path",
  "node:timers/promises",
  "node:url",
  "robots-parser",
];

const files = await readFiles(join(import.meta.dir, "../.."), ["src"]);

test("a start loads no more of our code than agreed", () => {
  const started = startCode(files, ENTRIES);
  expect(started.files.size).toBeGreaterThan(300);
  const chars = [...started.files.values()].reduce((sum, length) => sum + length, 0);
  expect(chars).toBeLessThan(CHARS_MAX);
});

test("a start loads only these packages and modules of the platform", () => {
  const { outside } = startCode(files, ENTRIES);
  const others = [...outside].filter(([name]) => !OUTSIDE.includes(name)).map(([name, path]) => `${path}: ${name}`);
  expect(others).toEqual([]);
});

test("a start makes only the columns of the tables that it uses", () => {
  const making = [...files].filter(([, code]) => /\bsqliteTable\(/.test(codeOf(code))).map(([path]) => path);
  expect(making).toEqual(["src/store/late-table.ts"]);
});

test("what is imported at the top of a file is counted, and what a function imports is not", () => {
  const planted = new Map([
    [
      "src/main.ts",
      'import { a } from "./a.ts";\nimport type { T } from "./types.ts";\nimport "@scope/package/part";\n',
    ],
    ["src/a.ts", 'export { b } from "./base/b.ts";\nconst late = () => import("./late.ts");\n'],
    ["src/base/b.ts", 'import { c } from "node:zlib";\n'],
    ["src/late.ts", 'import "late-package";\n'],
    ["src/types.ts", 'import "types-package";\n'],
  ]);
  const { files: started, outside } = startCode(planted, ["src/main.ts"]);
  expect([...started.keys()].sort()).toEqual(["src/a.ts", "src/base/b.ts", "src/main.ts"]);
  expect([...outside].sort()).toEqual([
    ["@scope/package", "src/main.ts"],
    ["node:zlib", "src/base/b.ts"],
  ]);
});
