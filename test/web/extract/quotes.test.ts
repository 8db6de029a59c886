import { expect, test } from "bun:test";
import fc from "fast-check";
import { dropUnsupported, quoteStands } from "../../../src/web/extract/quotes.ts";

const PAGE = `# The Blue Kettle

It holds **1.7 litres** and boils in _three_ minutes — that’s “fast”.
See [the manual](https://example.com/manual_(en).pdf "Manual") for\u00a0details &amp; more.

| Property | Value |
| --- | --- |
| Weight | 1.2 kg |
| Colour | blue\\*grey |

- A list
- of things: don't \`panic\`
`;

test.each([
  "It holds 1.7 litres and boils in three minutes",
  "It holds **1.7 litres**",
  'minutes - that\'s "fast".',
  "minutes – that's «fast».",
  "See the manual for details & more.",
  "The Blue Kettle It holds",
  "Weight 1.2 kg",
  "| Weight | 1.2 kg |",
  "Weight | 1.2 kg",
  "Property Value Weight 1.2 kg",
  "blue*grey",
  "A list of things: don’t panic",
  "It   holds\n1.7 litres",
  "https://example.com/manual_(en).pdf",
])("stands: %s", (quote) => {
  expect(quoteStands(PAGE, quote)).toBe(true);
});

test.each([
  "",
  "  ",
  "—",
  "| --- |",
  "It holds 17 litres",
  "boils in two minutes",
  "weight 1.2 KG",
  "The Blue Kettle boils",
])("does not stand: %j", (quote) => {
  expect(quoteStands(PAGE, quote)).toBe(false);
});

test("every part of a page with text is found in it", () => {
  const piece = fc.constantFrom(
    "word",
    "8",
    "**",
    "_",
    "`",
    "|",
    "[",
    "](https://e.com/a)",
    "“",
    "—",
    "…",
    " ",
    "\n",
    "<b>",
    "é",
    "&amp;",
    "# ",
  );
  const pages = fc.array(piece, { minLength: 1, maxLength: 60 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(pages, fc.nat(), fc.nat(), (page, one, two) => {
      const [from, to] = [one % page.length, (two % page.length) + 1].sort((a, b) => a - b) as [number, number];
      const part = page.slice(from, to);
      expect(quoteStands(page, part)).toBe(/[\p{L}\p{N}]/u.test(part));
    }),
  );
});

test("hostile pages are read in time that grows with their length", () => {
  for (const piece of ["<a", "](", "|-", "](a(", "&#1", "[[[", "| --- |"])
    quoteStands(piece.repeat(200_000), "a quote");
});

test("values without a supporting quote are null and listed", () => {
  const url = "https://example.com/kettle";
  const pages = [
    { url, text: PAGE },
    { url: "https://example.com/other", text: "Another page: 5 stars" },
  ];
  const value = { weight: 1.2, colour: "red", stars: 5, price: null, note: "x", __proto__: 1 };
  const sources = {
    weight: [
      { url: `${url}#weight`, quote: "Weight | 1.2 kg" },
      { url, quote: "Weight: 2 kg" },
    ],
    colour: [{ url, quote: "Colour: red" }],
    stars: [{ url, quote: "5 stars" }],
    extra: [{ url, quote: "A list" }],
  };
  expect(dropUnsupported(value, sources, pages)).toEqual({
    value: { weight: 1.2, colour: null, stars: null, price: null, note: null },
    sources: { weight: [{ url: `${url}#weight`, quote: "Weight | 1.2 kg" }] },
    unsupported: ["colour", "stars", "price", "note"],
  });
});

test("the parts of a page count as one page", () => {
  const pages = ["first", "second"].map((text) => ({ url: "https://example.com/", text }));
  const sources = { a: [{ url: "https://example.com/", quote: "second" }] };
  expect(dropUnsupported({ a: 1 }, sources, pages)).toEqual({ value: { a: 1 }, sources, unsupported: [] });
});

test("a list at the root has no fields", () => {
  expect(dropUnsupported([1], { a: [] }, [])).toEqual({ value: [1], sources: {}, unsupported: [] });
});

test("names of built-in object members are ordinary fields", () => {
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}');
  const { unsupported, value: left } = dropUnsupported(value, {}, []);
  expect(unsupported).toEqual(["__proto__", "constructor"]);
  expect(JSON.stringify(left)).toBe('{"__proto__":null,"constructor":null}');
});
