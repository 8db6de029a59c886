import { expect, test } from "bun:test";
import { type Block, cutBlocks } from "../../src/pages/content/blocks.ts";
import { bestThreshold, thresholdOfArticle } from "../../src/pages/content/choose.ts";
import { PAGE_KINDS, type PageKind } from "../../src/pages/content/kind-signs.ts";
import { isSurelyArticle } from "../../src/pages/content/kinds.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const DOUBTFUL = 0.42;

/** How many paragraphs of the same length are kept, by their verdicts. */
function keptOf(verdicts: readonly number[], kind?: PageKind): number {
  return keptWith((blocks) => bestThreshold(blocks, verdicts, kind), verdicts);
}

function keptWith(
  thresholdOf: (blocks: readonly Block[], verdicts: readonly number[]) => number,
  verdicts: readonly number[],
): number {
  const html = verdicts.map((_, at) => `<p>Paragraph ${1000 + at} of the page.</p>`).join("");
  const blocks = cutBlocks(parsePage(`<body>${html}</body>`).body);
  const threshold = thresholdOf(blocks, verdicts);
  return verdicts.filter((verdict) => verdict >= threshold).length;
}

test("doubtful text is left out of an article and kept on pages of other kinds", () => {
  const verdicts = [...Array(8).fill(0.95), ...Array(6).fill(DOUBTFUL), ...Array(6).fill(0.1)];
  for (const kind of PAGE_KINDS) expect([kind, keptOf(verdicts, kind)]).toEqual([kind, kind === "article" ? 8 : 14]);
  expect(keptOf(verdicts)).toBe(14);
});

test("on an article, doubtful text is content as a whole or not at all", () => {
  const kept = (verdicts: readonly number[]) => keptWith(thresholdOfArticle, verdicts);
  const text = Array<number>(8).fill(0.95);
  // Much more than that is not left out, since a reader would miss it if it is content after all.
  expect(kept([...text, ...Array<number>(1000).fill(0.35)])).toBe(1008);
  // Comments that are each doubtful promise much text together, but an article has them or has none.
  expect(kept([...text, ...Array<number>(40).fill(0.35)])).toBe(8);
  expect(
    keptWith(
      (blocks, verdicts) => bestThreshold(blocks, verdicts, "article"),
      [...text, ...Array<number>(40).fill(0.35)],
    ),
  ).toBe(48);
  expect(kept([...text, ...Array<number>(40).fill(0.6)])).toBe(48);
  expect(kept([...text, 0.6, 0.4, 0.05])).toBe(9);
  // Of a few doubtful blocks it lets in no more than the other threshold.
  expect(kept([...Array<number>(8).fill(0.8), 0.45, 0.45])).toBe(8);
  expect(kept([0.3, 0.02])).toBe(1);
  expect(kept([])).toBe(0);
});

test("only what is surely an article is chosen as one", () => {
  const verdicts = [...Array<number>(8).fill(0.95), ...Array<number>(40).fill(0.35)];
  const html = verdicts.map((_, at) => `<p>Paragraph ${1000 + at} of the page, at some length.</p>`).join("");
  const document = parsePage(`<body><div>${html}</div></body>`);
  const blocks = cutBlocks(document.body);
  const chosen = (isSure: boolean) =>
    chooseMain(document, blocks, verdicts, { isSureArticle: () => isSure, without: "contained" }).size;
  expect(chosen(true)).toBe(8);
  expect(chosen(false)).toBe(48);
  const sharesOf = (share: number) => PAGE_KINDS.map((kind) => (kind === "article" ? share : (1 - share) / 6));
  expect([0.95, 0.85].map((share) => isSurelyArticle(sharesOf(share)))).toEqual([true, false]);
  expect(isSurelyArticle([])).toBe(false);
});
