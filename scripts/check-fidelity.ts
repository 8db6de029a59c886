// Checks whether the words of kept text are in the Markdown as the page has them:
//   bun scripts/check-fidelity.ts DIR [--show N]
// DIR is the same as for fit-extraction.ts. On every page of every set, the words of each kept block must be in the
// Markdown: unchanged, not joined, and in order. Prints the number of blocks for which this is not so and shows the
// first of them; then it fails. Intended differences are counted by the rule that allows them
// (scripts/fit/fidelity.ts).

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkFidelity } from "./fit/fidelity.ts";
import { readHtml } from "./fit/labelled-pages.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/check-fidelity.ts DIR [--show N]");
  process.exit(2);
}
const root = resolve(directory);
const showAt = process.argv.indexOf("--show");
let left = showAt > 0 ? Number(process.argv[showAt + 1]) : 20;
let pages = 0;
let blocks = 0;
let wrong = 0;
let wrongPages = 0;
const intended = new Map<string, number>();
for (const entry of readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory())) {
  const { dev } = JSON.parse(readFileSync(join(root, entry.name, "split.json"), "utf8")) as { dev: string[] };
  for (const id of dev) {
    const found = checkFidelity(readHtml(root, entry.name, id));
    pages++;
    blocks += found.kept;
    wrong += found.missing.length;
    if (found.missing.length > 0) wrongPages++;
    for (const [rule, texts] of found.intended) intended.set(rule, (intended.get(rule) ?? 0) + texts.length);
    for (const text of found.missing) if (left-- > 0) console.log(`${entry.name}/${id}: ${text.slice(0, 200)}`);
  }
}
for (const [rule, count] of intended) console.log(`${count} otherwise on purpose, ${rule}`);
console.log(`${pages} pages, ${blocks} kept blocks: ${wrong} on ${wrongPages} pages came out otherwise`);
if (wrong > 0 || blocks === 0) process.exit(1);
