import { describe, expect, test } from "bun:test";
import { extractPage } from "../../../src/pages/convert/extract.ts";
import { parsePage } from "../../../src/pages/dom/parse.ts";
import { structuredData } from "../../../src/pages/structured/structured.ts";

const URL = "https://shop.example.com/kettle";
const read = (html: string) => structuredData(parsePage(html), URL);
const script = (text: string) => `<script type="application/ld+json">${text}</script>`;

describe("JSON-LD", () => {
  test("every script, lists and graphs, without contexts", () => {
    const { jsonLd } = read(
      script('{"@context":"https://schema.org","@type":"Product","name":"Kettle","offers":{"price":19.90}}') +
        script('[{"@type":"A"},{"@type":"B"},5]') +
        script('{"@context":{},"@graph":[{"@type":"C","@id":"#c"},{"@type":"D"}]}'),
    );
    expect(jsonLd).toEqual([
      { "@type": "Product", name: "Kettle", offers: { price: "19.90" } },
      { "@type": "A" },
      { "@type": "B" },
      { "@type": "C", "@id": "#c" },
      { "@type": "D" },
    ]);
  });

  test.each<[string, string]>([
    ["a comma too many", '{"name":"A",}'],
    ["a semicolon after it", '{"name":"A"};'],
    ["a line break in a text", '{"name":"\nA"}'],
    ["a comment around it", '<!-- {"name":"A"} -->'],
    ["a CDATA mark around it", '//<![CDATA[\n{"name":"A"}\n//]]>'],
    ["the same for style sheets", '/*<![CDATA[*/{"name":"A"}/*]]>*/'],
    ["quotes as entities", "{&quot;name&quot;:&quot;A&quot;}"],
  ])("mended: %s", (_name, text) => {
    expect(read(script(text)).jsonLd).toEqual([{ name: "A" }]);
  });

  test("numbers stay as they are written", () => {
    const { jsonLd } = read(
      '<script type="application/ld+json">{"sku":12345678901234567890,"price":1.10,"big":1e400,"sum":12.5,"count":7}</script>',
    );
    expect(jsonLd).toEqual([{ sku: "12345678901234567890", price: "1.10", big: "1e400", sum: 12.5, count: 7 }]);
  });

  test("data that cannot be repaired is skipped, the rest is read", () => {
    expect(read(script("no data at all") + script("") + script('{"name":"A"}')).jsonLd).toEqual([{ name: "A" }]);
  });

  test("endless nesting, lists and texts are cut", () => {
    const deep = `${'{"a":'.repeat(400)}1${"}".repeat(400)}`;
    const long = JSON.stringify({ list: Array.from({ length: 100_000 }, (_, at) => at), text: "a".repeat(100_000) });
    const { jsonLd } = read(script(deep) + script(JSON.stringify({ text: "b".repeat(9000) })) + script(long));
    const text = JSON.stringify(jsonLd);
    expect(text.length).toBeLessThan(200_000);
    expect(text).toContain(`"${"b".repeat(5000)}"`);
    expect(text.split('{"a"').length).toBeLessThan(30);
    expect(() => read(script("[".repeat(200_000)))).not.toThrow();
  });

  test("names of built-in object members are not members", () => {
    const [entity] = read(script('{"__proto__":{"name":"B"},"a":1}')).jsonLd;
    expect(entity).toEqual({ a: 1 });
  });
});

describe("microdata", () => {
  test("nested items, values by element, lists", () => {
    const { microdata } = read(`
      <div itemscope itemtype="https://schema.org/Product" itemid="#p">
        <h1 itemprop="name">The <b>Blue</b> Kettle</h1>
        <img itemprop="image" src="/a.jpg"><img itemprop="image" src="/b.jpg">
        <a itemprop="url" href="?x=1">more</a>
        <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
          <meta itemprop="priceCurrency" content="EUR"><span itemprop="price" content="19.90">€ 19,90</span>
          <link itemprop="availability" href="https://schema.org/InStock">
          <time itemprop="validFrom" datetime="2026-01-02">2 January</time>
        </div>
        <div itemprop="description"><p>One.</p><p>Two.</p></div>
        <div itemprop="brand"></div>
      </div>
      <p itemprop="name">Nobody's</p>`);
    expect(microdata).toEqual([
      {
        "@type": "Product",
        "@id": "#p",
        name: "The Blue Kettle",
        image: ["https://shop.example.com/a.jpg", "https://shop.example.com/b.jpg"],
        url: "https://shop.example.com/kettle?x=1",
        offers: {
          "@type": "Offer",
          priceCurrency: "EUR",
          price: "19.90",
          availability: "https://schema.org/InStock",
          validFrom: "2026-01-02",
        },
        description: "One. Two.",
      },
    ]);
  });

  test("an item for the page itself, and members from elsewhere", () => {
    const { microdata } = read(`<html itemscope itemtype="https://schema.org/Article"><head>
      <meta itemprop="headline" content="Hello"></head><body>
      <p id="more">By <span itemprop="author">Ann</span></p>
      <div itemscope itemref="more self" id="self"><span itemprop="name">Thing</span></div></body></html>`);
    expect(microdata).toEqual([
      { "@type": "Article", headline: "Hello", author: "Ann" },
      { name: "Thing", author: "Ann" },
    ]);
  });

  test("items that contain each other end", () => {
    const items = Array.from(
      { length: 300 },
      (_, at) =>
        `<div id="i${at}" itemscope itemref="${[1, 2, 3].map((step) => `i${(at + step) % 300}`).join(" ")}"><b itemprop="n">${at}</b></div>`,
    );
    expect(JSON.stringify(read(items.join("")).microdata).length).toBeLessThan(100_000);
  });
});

test("metadata of the head, the first of each name", () => {
  const { meta } = read(
    '<meta property="og:title" content=" A  title "><meta property="og:title" content="B"><meta name="Author" content="Ann"><meta name="x" content=""><meta charset="utf-8">',
  );
  expect(meta).toEqual({ "og:title": "A title", author: "Ann" });
});

test("names with their values, from tables, lists of terms and bold names", () => {
  const { pairs } = read(`
    <table><tr><th>Property</th><th>Value</th></tr><tr><td>Weight:</td><td>1.2 kg</td></tr><tr><th>Colour</th><td>blue</td></tr></table>
    <table><tr><td>Year</td><td>A</td><td>B</td></tr><tr><th>Founded</th><td>1990</td></tr><tr><td>x</td><td>y</td></tr></table>
    <dl><dt>Author</dt><dd>Ann</dd><dd>Ben</dd><div><dt>Pages</dt><dd>120</dd></div></dl>
    <ul><li><b>Speed:</b> 5 m/s</li><li><strong>Size</strong>: large</li><li><b>No</b> pair</li><li>Not: this</li></ul>`);
  expect(pairs).toEqual([
    { name: "Weight", value: "1.2 kg" },
    { name: "Colour", value: "blue" },
    { name: "Founded", value: "1990" },
    { name: "Author", value: "Ann" },
    { name: "Author", value: "Ben" },
    { name: "Pages", value: "120" },
    { name: "Speed", value: "5 m/s" },
    { name: "Size", value: "large" },
  ]);
});

test("structured data is read on request, and does not change the rest of the result", () => {
  const html = `<title>A</title>${script('{"name":"A"}')}<div itemscope><meta itemprop="name" content="B">Text</div>`;
  const options = { url: URL, onlyMainContent: false, markdown: true, html: true, links: true };
  const { structured, ...page } = extractPage(html, { ...options, structured: true });
  expect(structured).toEqual({ jsonLd: [{ name: "A" }], microdata: [{ name: "B" }], meta: {}, pairs: [] });
  expect(page).toEqual(extractPage(html, options));
});

test("nothing is found on an empty page", () => {
  expect(read("")).toEqual({ jsonLd: [], microdata: [], meta: {}, pairs: [] });
});
