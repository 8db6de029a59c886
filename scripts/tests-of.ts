// Names the tests of a source file: `bun scripts/tests-of.ts src/gateway/admission/admit.ts`. Tests with its name come first,
// then those that run it in a browser or as a process, then those that import it, the closest first.

import { join } from "node:path";
import { testsOf } from "../test/architecture/reach.ts";
import { readFiles } from "../test/architecture/source.ts";

const SHOWN_MAX = 10;
const files = await readFiles(join(import.meta.dir, ".."), ["src", "test"]);
const [path = ""] = process.argv.slice(2);
if (!files.has(path)) {
  process.stderr.write(`There is no source file ${path}. Name it as src/ROOM/FILE.ts.\n`);
  process.exit(1);
}
for (const { test, because } of testsOf(path, files).slice(0, SHOWN_MAX)) process.stdout.write(`${test}\t${because}\n`);
