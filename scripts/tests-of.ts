// Names the tests of a source file: `bun scripts/tests-of.ts src/gateway/admit.ts`. Tests with its name come first,
// then those that import it, the closest first.

import { basename, join } from "node:path";
import { testsBySource } from "../test/architecture/reach.ts";
import { readFiles } from "../test/architecture/source.ts";

const SHOWN_MAX = 10;
const files = await readFiles(join(import.meta.dir, ".."), ["src", "test"]);
const [path = ""] = process.argv.slice(2);
const tests = testsBySource(files).get(path);
if (!files.has(path)) {
  process.stderr.write(`there is no source file ${path}: name it as src/ROOM/FILE.ts\n`);
  process.exit(1);
}
const stem = basename(path).replace(/\.tsx?$/, "");
const named = [...files.keys()]
  .filter((file) => basename(file) === `${stem}.test.ts`)
  .map((test) => ({ test, steps: 0 }));
const others = (tests ?? []).filter(({ test }) => !named.some((one) => one.test === test));
for (const { test, steps } of [...named, ...others].slice(0, SHOWN_MAX)) {
  process.stdout.write(`${steps === 0 ? "its name" : `${steps} step${steps === 1 ? "" : "s"}`}\t${test}\n`);
}
