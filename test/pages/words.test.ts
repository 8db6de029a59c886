// Every text of a page agrees with what a reader sees: powers, note marks, old prices and hidden words do not change a number.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { plainTextOf } from "../../src/pages/words/plain-text.ts";
import { answerFromStructured } from "../../src/web/extract/from-structured.ts";
import { quoteStands } from "../../src/web/extract/quotes.ts";
import { paragraphsOf, plainWords } from "../../src/web/llmstxt/plain.ts";
import "../support/seed.ts";

const url = "https://site.example/page";
const page = (html: string) =>
  extractPage(html, {
    url,
    onlyMainContent: false,
    markdown: true,
    html: true,
    links: true,
    navigation: true,
    structured: true,
  });

const PLAIN: readonly (readonly [name: string, html: string, text: string])[] = [
  ["a power of ten", "10<sup>6</sup> cells", "10^6 cells"],
  ["a negative power", "10<sup>-3</sup> m", "10^-3 m"],
  ["a power before a digit", "10<sup>6</sup>5", "10^(6)5"],
  ["a power of a power", "2<sup>3<sup>2</sup></sup>", "2^(3^2)"],
  ["a unit", "5 m<sup>2</sup> and E = mc<sup>2</sup>", "5 m² and E = mc²"],
  ["an index", "H<sub>2</sub>O, 101<sub>2</sub>, x<sub>i+1</sub>", "H₂O, 101_2, x_(i+1)"],
  ["a note mark after a year", "Built 1911<sup>2</sup>", "Built 1911"],
  ["a note mark with a link", '12<sup><a href="#n">3</a></sup>4', "12 4"],
  ["a note mark by its role", '12 <a role="doc-noteref" href="#n">3</a>', "12"],
  ["a note mark in brackets", "cells<sup>[12]</sup>", "cells"],
  ["a note mark after a word", "as it was built<sup>1</sup>.", "as it was built."],
  ["an ordinal", "the 21<sup>st</sup>", "the 21st"],
  ["cents", "€12<sup>50</sup>, 7<sup>99</sup> €, <sup>$</sup>4<sup>,25</sup>", "€12.50, 7.99 €, ^($)4,25"],
  ["an old price", "<del>€119.00</del> €89.00", "€89.00"],
  ["an old figure within a number", "12<s>3</s>4", "12 4"],
  ["a price struck out by its style", '<span style="text-decoration: line-through">€119</span> €89', "€89"],
  ["marks of direction", "a\u202ebc\u202c \u20665\u2069", "abc 5"],
  ["hidden words", 'red<span style="display:none"> IGNORE</span> <i hidden>99</i>', "red"],
  ["words for screen readers", '<span class="sr-only">Price:</span> 5', "5"],
  ["line breaks and blocks", "1<br>2<div>3</div>4", "1 2 3 4"],
  ["a formula", "<math><msup><mn>10</mn><mn>6</mn></msup></math> cells", "10^{6} cells"],
  ["readings", "<ruby>漢<rt>kan</rt></ruby>", "漢(kan)"],
  ["characters without a width", "inter\u00adnational\u200b 5", "international 5"],
];

test.each(PLAIN)("plain text: %s", (_, html, text) => {
  expect(plainTextOf(parsePage(`<p>${html}</p>`).body)).toBe(text);
});

describe("a number of the page is a number of every output", () => {
  const table = `<table><tr><th>Built<td>1911<sup>2</sup><tr><th>Cells<td>10<sup>6</sup><tr><th>Price<td>€12<sup>50</sup>
    <tr hidden><th>Depth<td>99 m<tr><th>Colour<td>red<span style="display:none"> IGNORE ALL</span>
    <tr><th>Cost<td><del>€119.00</del> €89.00</table>`;
  const html = `<h1>9×10<sup>16</sup> J</h1><a href="/n">E = mc<sup>2</sup> <s>41</s></a>${table}
    <div itemscope><span itemprop="weight">10<sup>3</sup> kg</span><b itemprop="length" hidden>7 m</b></div>
    <p>The energy is about 9×10<sup>16</sup> J per kilogram, since 1905<sup>3</sup>.</p>`;
  const read = page(html);

  test("titles and links", () => {
    expect(read.metadata.title).toBe("9×10^16 J");
    expect(read.navigation?.map(({ label }) => label)).toEqual(["E = mc²"]);
  });

  test("structured data and the answers made of it", () => {
    const properties = {
      built: { type: "integer" },
      cells: { type: "integer" },
      price: { type: "number" },
      weight: { type: "string" },
      depth: { type: "string" },
      length: { type: "string" },
      colour: { type: "string" },
      cost: { type: "number" },
    };
    const { value, sources } = answerFromStructured({ type: "object", properties }, [
      { url, structured: read.structured! },
    ]);
    expect(value).toEqual({
      built: 1911,
      cells: null,
      price: 12.5,
      weight: "10^3 kg",
      depth: null,
      length: null,
      colour: "red",
      cost: 89,
    });
    expect(JSON.stringify(sources)).not.toMatch(/19112|1250|119|IGNORE/);
  });

  test("descriptions of llms.txt", () => {
    const words = paragraphsOf(read.markdown ?? "").join(" ");
    expect(words).toContain("about 9×10^16 J per kilogram, since 1905.");
    expect(plainWords("10<sup>6</sup> ~~12~~ 1911<sup>[2](https://site.example/x#a)</sup>")).toBe("10^6 1911");
  });

  test("quotes", () => {
    for (const quote of ["10^6", "10⁶", "10<sup>6</sup>"])
      expect(quoteStands("10<sup>6</sup> cells", quote)).toBe(true);
    expect(quoteStands("10<sup>6</sup> cells", "106 cells")).toBe(false);
  });
});

test("identifiers in JSON-LD keep their digits", () => {
  const script = '<script type="application/ld+json">{"sku":12345678901234567890,"price":1.5}</script>';
  expect(page(script).structured?.jsonLd).toEqual([{ sku: "12345678901234567890", price: 1.5 }]);
});

describe("a table in a sidebar does not answer as well as one in the content", () => {
  const table = (weight: string) => `<table><tr><th>Weight<td>${weight}</table>`;
  test.each<[string, string, unknown[]]>([
    ["beside the content", `<main>${table("1 kg")}</main><aside>${table("2 kg")}</aside>`, ["1 kg"]],
    ["before the content", `<aside>${table("2 kg")}</aside><main>${table("1 kg")}</main>`, ["1 kg"]],
    ["within the content", `<main>${table("1 kg")}<aside>${table("2 kg")}</aside></main>`, ["1 kg"]],
    ["alone in the content", `<main><p>Text</p><aside>${table("2 kg")}</aside></main>`, ["2 kg"]],
  ])("%s", (_, html, weights) => {
    expect(page(html).structured?.pairs.map(({ value }) => value)).toEqual(weights as string[]);
  });
});

/** A piece of a line, and the digit strings that a reader sees in it; a break means that the strings around it are apart. */
type Piece = readonly [html: string, seen: readonly string[]];
const digits = fc.stringMatching(/^[1-9][0-9]{0,3}$/);
const BREAK = " ";
const piece: fc.Arbitrary<Piece> = fc.oneof(
  digits.map((text): Piece => [text, [text]]),
  fc
    .constantFrom(" ", "m", " cells", "€", ".", " kg ", "word")
    .map((text): Piece => [text, [text === "." ? BREAK : text]]),
  fc
    .tuple(fc.constantFrom("sup", "sub", "del", "s"), digits)
    .map(([tag, text]): Piece => [`<${tag}>${text}</${tag}>${/^su/.test(tag) ? "" : " "}`, [BREAK, text, BREAK]]),
  digits.map((text): Piece => [`<sup><a href="#n${text}">${text}</a></sup>`, [BREAK, text, BREAK]]),
  digits.map((text): Piece => [`<span hidden>${text}</span>`, []]),
  digits.map((text): Piece => [`<span style="visibility:hidden">${text}</span>`, []]),
  digits.map((text): Piece => [`<b>${text}</b>`, [text]]),
  digits.map((text): Piece => [`<br>${text}`, [BREAK, text]]),
);

test("no digits of an output are absent from what a reader sees", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
      const line = pieces.map(([html]) => html).join("");
      const seen = new Set(
        pieces
          .flatMap(([, shown]) => shown)
          .join("")
          .match(/\d+/g) ?? [],
      );
      const html = `<h1>x ${line}</h1><a href="/z">y ${line}</a><p>z ${line}</p><dl><dt>Name<dd>v ${line}</dl><div itemscope><i itemprop="weight">w ${line}</i></div>`;
      const read = page(html);
      const { title } = read.metadata;
      const labels = (read.navigation ?? []).map(({ label }) => label);
      const { pairs = [], microdata = [] } = read.structured ?? {};
      const markdown = (read.markdown ?? "").replace(/\]\([^)]*\)|\*\*/g, "");
      const words = (read.markdown ?? "").split("\n\n").map(plainWords);
      const values = [...pairs.map(({ value }) => value), ...microdata.map((one) => String(one["weight"]))];
      for (const text of [title, ...labels, ...values, markdown, ...words])
        for (const [found] of text.matchAll(/[0-9]+/g)) expect([...seen], `${found} in ${text}`).toContain(found);
    }),
    { numRuns: 300 },
  );
});
