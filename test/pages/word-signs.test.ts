import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { readNeighbourhood } from "../../src/pages/content/context.ts";
import { loadWeights } from "../../src/pages/content/weights.ts";
import { hashSign, readWordSigns } from "../../src/pages/content/word-reader.ts";
import { type WordWeights, wordOdds, wordRows } from "../../src/pages/content/word-signs.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const placesOf = (html: string) => readNeighbourhood(cutBlocks(parsePage(`<body>${html}</body>`).body));

/** The hashes of the signs of the last block. */
function hashesOf(html: string): { readonly names: number[]; readonly texts: number[] } {
  const hashes: number[] = [];
  const index = (hash: number) => {
    if (!hashes.includes(hash)) hashes.push(hash);
    return hashes.indexOf(hash);
  };
  const last = readWordSigns(placesOf(html), index).at(-1);
  const told = (lists: readonly (readonly number[])[] = []) => lists.flat().map((number) => hashes[number] as number);
  return { names: told(last?.names), texts: told(last?.texts) };
}

const hashed = (signs: readonly string[]) => signs.map((sign) => hashSign(sign.charAt(0), sign.slice(1)));

function weighed(signs: Readonly<Record<string, number>>) {
  const told = Object.entries(signs).map(
    ([sign, weight]) => [hashSign(sign.charAt(0), sign.slice(1)), weight] as const,
  );
  told.sort(([a], [b]) => a - b);
  return {
    bias: 0.5,
    signs: told.map(([hash], at) => hash - (told[at - 1]?.[0] ?? 0)),
    weights: told.map(([, weight]) => weight),
  };
}
const WORDS: WordWeights = {
  names: weighed({ arelated: -200, brelated: -100, crelated: -50, cmain: 100 }),
  texts: weighed({ "Tread more": -300, hrelated: -100, "Hrelated stories": -25, tread: 1 }),
};

test("a word of a name is another sign by where it stands", () => {
  const html =
    '<div id="mainPart"><div class="far"><div class="wrap"><div class="box-list"><p class="item lead">Text</p></div></div></div></div>';
  expect(hashesOf(html).names).toEqual(hashed(["aitem", "alead", "bbox", "blist", "bwrap", "cmain", "cpart", "cfar"]));
});

test("names stand in several attributes, and each word counts once", () => {
  const html = '<p class="box boxBox x" id="lead" role="note" itemprop="text" data-testid="lead-text">Text</p>';
  expect(hashesOf(html).names).toEqual(hashed(["abox", "alead", "anote", "atext"]));
  expect(hashesOf(`<p class="${"x ".repeat(150)}late" id="later">Text</p>`).names).toEqual([]);
  const words = Array.from({ length: 20 }, (_, at) => `w${letters(at + 10)}`);
  expect(hashesOf(`<p class="${words.join(" ")}">Text</p>`).names).toEqual(
    hashed(words.slice(0, 16).map((word) => `a${word}`)),
  );
});

test("words of texts have letters of any script, in capitals or not", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["Ähnliche Artikel", ["Tähnliche artikel", "tähnliche", "tartikel"]],
    ["ЧИТАЙТЕ также…", ["Tчитайте также", "tчитайте", "tтакже"]],
    ["12 – 14", ["T"]],
    ["It’s here — again", ["Tit s here again", "tit", "ts", "there", "tagain"]],
  ];
  for (const [text, signs] of cases)
    expect([text, ...hashesOf(`<p>${text}</p>`).texts]).toEqual([text, ...hashed(signs)]);
});

test("short texts, starts of texts and the heading above are signs", () => {
  expect(hashesOf("<h2>Related stories</h2><p>Read more</p>").texts).toEqual(
    hashed(["Tread more", "tread", "tmore", "Hrelated stories", "hrelated", "hstories"]),
  );
  const long = "The ferry left the quay at noon, and the ferry came back at four.";
  expect(hashesOf(`<p>${long}</p>`).texts.slice(0, 3)).toEqual(hashed(["Sthe ferry", "tthe", "tferry"]));
});

test("the weights of all signs of a block add up, each once", () => {
  const cases: readonly (readonly [string, readonly [number, number]])[] = [
    ["<p>Text</p>", [0.5, 0.5]],
    ['<p class="related">Text</p>', [-1.5, 0.5]],
    ['<div class="related"><p class="related related-item">Text</p></div>', [-2.5, 0.5]],
    ['<div class="related"><div class="related"><p>Text</p></div></div>', [-0.5, 0.5]],
    ['<div class="related main"><div><div><p>Text</p></div></div></div>', [1, 0.5]],
    ["<p>Read more</p>", [0.5, -2.49]],
    ["<h2>Related stories</h2><p>Text</p>", [0.5, -0.75]],
  ];
  for (const [html, odds] of cases) {
    const [names, texts] = wordOdds(placesOf(html), WORDS).at(-1) ?? [0, 0];
    expect([html, names.toFixed(2), texts.toFixed(2)]).toEqual([html, odds[0].toFixed(2), odds[1].toFixed(2)]);
  }
});

test("rows get both opinions and what they and the first trees say of the neighbourhood", () => {
  const places = placesOf("<p>Text</p><p>Read more</p>");
  const rows = wordRows(places, [Float32Array.of(7), Float32Array.of(7)], {
    odds: wordOdds(places, WORDS),
    first: [0.25, 0.75],
  });
  const told = Array.from(rows[1] ?? [], (value) => value.toFixed(2));
  expect(told.slice(0, 3)).toEqual(["7.00", "0.50", "-2.49"]);
  // Each list of verdicts gives as many features, and the first of them is the verdict itself.
  const width = (told.length - 3) / 2;
  expect([told[3], told[3 + width]]).toEqual(["0.23", "0.75"]);
  expect(rows[0]).toHaveLength(told.length);
});

test("the program knows words that go with main content and words that do not", () => {
  const { words } = loadWeights();
  const oddsOf = (html: string) => wordOdds(placesOf(html), words).at(-1) ?? [0, 0];
  expect(oddsOf('<div class="article-body"><p>Text</p></div>')[0]).toBeGreaterThan(
    oddsOf('<div class="related-posts"><p>Text</p></div>')[0],
  );
  expect(oddsOf("<p>Related articles</p>")[1]).toBeLessThan(oddsOf("<p>Ingredients</p>")[1]);
});

test("many words and deep trees cost a bounded list", () => {
  const deep = Array.from({ length: 400 }, (_, at) => `<div class="w${letters(at)} v${letters(at)}">`).join("");
  expect(hashesOf(`${deep}<p>Text</p>`).names.length).toBeLessThanOrEqual(200 + 2 * 4);
});

function letters(at: number): string {
  return [...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("");
}
