import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const PROSE = `<p>${"What we wrote about the river, its mills and its floods, newest first and by hand. ".repeat(8)}</p>`;
const entry = (at: number) =>
  `<article class="post-${at} format-standard"><header><h2><a href="/${at}">The mill number ${at}</a></h2></header></article>`;
const listOf = (count: number) => Array.from({ length: count }, (_, at) => entry(at)).join("");

/** How many titles are kept if the fitted model is sure of the prose and has this verdict on everything else. */
function titles(row: string, verdict: number, kind: PageKind | undefined): number {
  const page = parsePage(`<title>Mills</title><main><h1>Mills</h1>${PROSE}${row}</main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(({ element }) => (element.tag === "p" ? 0.95 : verdict));
  return [...chooseMain(page, blocks, verdicts, { kind: () => kind })].filter(({ text }) => /number/.test(text)).length;
}

test.each([["listing"], [undefined]] as const)("the titles of a list are kept (kind: %s)", (kind) => {
  expect(titles(`<div>${listOf(8)}</div>`, 0.2, kind)).toBe(8);
});

test.each([
  ["on pages of other kinds", `<div>${listOf(8)}</div>`, 0.2, "article"],
  ["if the model is sure that they are secondary", `<div>${listOf(8)}</div>`, 0.05, "listing"],
  ["if they are few", `<div>${listOf(4)}</div>`, 0.2, "listing"],
  ["in parts that are set aside", `<div class="related">${listOf(8)}</div>`, 0.2, "listing"],
  ["beside the content", `<aside>${listOf(8)}</aside>`, 0.2, "listing"],
] as const)("they are not %s", (_, row, verdict, kind) => {
  expect(titles(row, verdict, kind)).toBe(0);
});
