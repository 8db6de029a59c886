// Fits the trees that tell the kind of a page and writes them into the program:
//   bun scripts/fit-kinds.ts DIR [--folds FILE] [--out FILE]
// DIR is the same as for cross-validate.ts. Prints how many pages are told right by trees that have not seen their sites, and how
// many of those that are certain. The output contains single words and numbers only. The weights in FILE, of cross-validate.ts, are
// given the trees that were fitted without the sites of each fold.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { PAGE_KINDS } from "../src/pages/content/kind-signs.ts";
import { certainKind, type KindTable } from "../src/pages/content/kinds.ts";
import { type Folds, foldKey } from "./fit/folds.ts";
import { readKindPages } from "./fit/kind-pages.ts";
import { fitKinds, heldShares, type KindPage, rightShares } from "./fit/kinds-fit.ts";

const [directory] = process.argv.slice(2);
const argumentOf = (flag: string) => {
  const at = process.argv.indexOf(flag);
  return at > 0 ? process.argv[at + 1] : undefined;
};
if (directory === undefined) {
  console.error("usage: bun scripts/fit-kinds.ts DIR [--folds FILE] [--out FILE]");
  process.exit(2);
}
const FOLDS = 5;
const out = argumentOf("--out") ?? join(import.meta.dir, "../src/pages/content/kinds-packed.ts");
const foldsFile = argumentOf("--folds");
const folds = foldsFile === undefined ? undefined : (JSON.parse(readFileSync(foldsFile, "utf8")) as Folds);
const pages = readKindPages(resolve(directory));
console.error(`${pages.length} pages`);
const foldOf = (page: KindPage) => folds?.fold[foldKey(page)] ?? Bun.hash.xxHash32(page.site, 1) % FOLDS;
const tables = Array.from({ length: FOLDS }, (_, fold) => fitKinds(pages.filter((page) => foldOf(page) !== fold)));
printRight();
write(fitKinds(pages));
if (foldsFile !== undefined && folds !== undefined) {
  const weights = folds.weights.map((own, fold) => ({ ...own, kinds: tables[fold] }));
  writeFileSync(foldsFile, JSON.stringify({ ...folds, weights }));
}

function printRight(): void {
  const held = heldShares(pages, foldOf, tables);
  const named = pages.filter(({ set }) => set === "wcxb");
  const right = rightShares(named, (page) => held.get(page) ?? []);
  for (const kind of PAGE_KINDS) {
    const certain = named.filter((page) => certainKind(held.get(page) ?? []) === kind);
    const own = certain.filter((page) => page.kind === kind).length;
    const { pages: all, right: told } = right.get(kind) ?? { pages: 0, right: 0 };
    console.log(`${kind.padEnd(14)} ${told} of ${all} told right; ${own} of ${certain.length} certain ones right`);
  }
  const told = [...right.values()].reduce((sum, count) => sum + count.right, 0);
  console.log(`${"all".padEnd(14)} ${(told / Math.max(1, named.length)).toFixed(3)}`);
}

function write(table: KindTable): void {
  const packed = gzipSync(JSON.stringify(table), { level: 9 }).toString("base64");
  writeFileSync(
    out,
    `// Written by scripts/fit-kinds.ts: decision trees that tell the kind of a page, as gzipped JSON in base64.\n\n/** Packed trees of the kinds. */\n// biome-ignore format: one long string\nexport const PACKED_KINDS =\n  "${packed}";\n`,
  );
  console.error(`wrote ${out}: ${packed.length} characters`);
}
