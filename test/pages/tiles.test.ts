import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const INTRO =
  "<h1>Wool blankets</h1><p>Our blankets are woven on two looms from 1952, of wool that is washed, spun and dyed within a day's walk of the mill, and each takes a week to make.</p>";
const tile = (at: number) =>
  `<li class="card"><a href="/p/${at}"><h3>Blanket ${at}</h3></a><p>Heavy twill for cold rooms</p><span class="price">£${at}80.00</span><div>Quick view</div><button>Add</button></li>`;
const TILES = `<ul class="grid">${[1, 2, 3, 4, 5].map(tile).join("")}</ul>`;
const FOOT = `<p>${"What else there is to say about wool, at some length and for those who read on. ".repeat(6)}</p>`;
const collection = '<link rel="canonical" href="https://shop.example/collections/blankets">';

/** The text that is kept if the fitted model is sure of the prose and doubts everything else. */
function kept(head: string, row: string, verdict = 0.25, kind?: PageKind): string {
  const page = parsePage(`<title>Wool blankets</title>${head}<main>${INTRO}${row}${FOOT}</main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(({ element, text }) => (element.tag === "p" && text.length > 40 ? 0.95 : verdict));
  blocks.forEach(({ text }, at) => {
    if (/review/.test(text)) verdicts[at] = 0.01;
  });
  return [...chooseMain(page, blocks, verdicts, { kind: () => kind })].map(({ text }) => text).join("\n");
}

test("the tiles of a collection are kept whole, without their buttons", () => {
  const text = kept(collection, TILES);
  for (const at of [1, 2, 3, 4, 5]) expect(text).toContain(`Blanket ${at}`);
  expect(text).toContain("£580.00");
  expect(text).not.toMatch(/Add|Quick view/);
});

test.each([
  ["an article", "", TILES, 0.25],
  ["a product", '<link rel="canonical" href="https://shop.example/products/grey">', TILES, 0.25],
  ["a collection that sets them aside", collection, `<section class="related">${TILES}</section>`, 0.25],
  ["a collection of which the look is sure", collection, TILES, 0.05],
])("those of %s are not", (_, head, row, verdict) => {
  expect(kept(head, row, verdict)).not.toContain("£580.00");
});

describe("on a page that is surely a list of products", () => {
  const row = TILES.replace(
    /<div>Quick view/g,
    '<p class="reviews">Be the first to review it</p><div>Quick view',
  ).replace("first", "very first");

  test("the tiles are kept though the look doubts them, without what is none of their text", () => {
    const text = kept("", row, 0.15, "collection");
    for (const at of [1, 2, 3, 4, 5]) expect(text).toContain(`£${at}80.00`);
    expect(text).not.toMatch(/review|Quick view|Add/);
  });

  test("they are not if the look is sure that they are secondary, or if they are named so", () => {
    expect(kept("", row, 0.05, "collection")).not.toContain("£580.00");
    expect(kept("", `<section class="related">${row}</section>`, 0.15, "collection")).not.toContain("£580.00");
    expect(kept(collection, row, 0.15)).not.toContain("£580.00");
  });
});
