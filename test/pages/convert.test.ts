import { afterAll, describe, expect, test } from "bun:test";
import { createConverter } from "../../src/pages/convert/convert.ts";
import { documentKindOf } from "../../src/pages/convert/document-kind.ts";
import { documentMarkdown } from "../../src/pages/convert/documents.ts";

const converter = createConverter(1);
afterAll(() => converter.close());
const options = { url: "https://site.example/", onlyMainContent: true, markdown: true, html: false, links: false };
const bytes = (text: string) => new TextEncoder().encode(text);

test("pages are converted in a thread", async () => {
  const task = {
    kind: "html" as const,
    bytes: bytes("<h1>Hi</h1><p>Some text of the page.</p>"),
    contentType: null,
    options,
  };
  const { markdown } = await converter.convert(task, { account: "", timeoutMs: 20_000 });
  expect(markdown).toContain("Some text of the page.");
});

test.each([
  ["all", undefined, ["/a", "/b", "/c"]],
  ["two", 2, ["/a", "/b"]],
  ["none", 0, []],
] as const)(
  "of a page for a crawl, %s of the wanted links are returned instead of all its links",
  async (_, most, paths) => {
    const links = ["/a", "/a#x", "/no", "https://else.example/", "/b", "/c"];
    const text = `<h1>Hi</h1>${links.map((link) => `<a href="${link}">A link</a>`).join("")}`;
    const feed = `<rss><channel>${links.map((link) => `<item><link>https://site.example${link}</link></item>`).join("")}</channel></rss>`;
    const rules = { own: [options.url], sites: ["site.example"], includes: [], excludes: ["/no"], documents: false };
    const pick = most === undefined ? rules : { ...rules, most };
    const wanted = paths.map((path) => `https://site.example${path}`).join("\n");
    const whole = { contentType: null, options };
    for (const task of [
      { kind: "html", bytes: bytes(text), ...whole, pick } as const,
      { kind: "document", document: "xml", bytes: bytes(feed), ...whole, pick } as const,
    ]) {
      const page = await converter.convert(task, { account: "", timeoutMs: 20_000 });
      expect([page.allLinks, page.picked?.urls, page.picked?.isOwnWanted]).toEqual(["", wanted, true]);
    }
  },
);

test("a hostile page does not hold up the event loop", async () => {
  const html = `<table>${"<tr>".concat("<td>x".repeat(90)).repeat(800)}</table>`;
  let beats = 0;
  const beat = setInterval(() => beats++, 5);
  await converter.convert(
    { kind: "html", bytes: bytes(html), contentType: null, options },
    { account: "", timeoutMs: 60_000 },
  );
  clearInterval(beat);
  // The conversion takes about a second. On the event loop nothing else would have run in that time. In a thread, even a busy
  // machine leaves enough time for more beats than this.
  expect(beats).toBeGreaterThan(10);
}, 60_000);

describe("kinds", () => {
  const cases: [string | null, string, string | undefined][] = [
    ["text/html; charset=utf-8", "<p>x", "html"],
    ["application/xhtml+xml", "<html>", "html"],
    ["text/plain", "<!DOCTYPE html><p>", "html"],
    ["text/plain", "words", "text"],
    ["application/json", "{}", "json"],
    ["application/ld+json", "{}", "json"],
    ["application/rss+xml", "<rss>", "xml"],
    ["application/octet-stream", "%PDF-1.7", "pdf"],
    ["application/pdf", "%PDF-1.4", "pdf"],
    ["image/png", "\x89PNG\r\n\x1a\n\0\0\0", undefined],
    ["text/html", "\x89PNG\r\n\x1a\n\x00\x01\x02", undefined],
    ["application/zip", "PK\x03\x04", undefined],
    [null, "<p>no type</p>", "html"],
    [null, "words", "text"],
    ["text/css", "a{}", "text"],
    ["text/html, text/html", "<p>x", "html"],
    ["text/html", `<p>${"words ".repeat(20)}\0${"words ".repeat(20)}`, "html"],
    ["application/octet-stream", "words\0", undefined],
    ["text/html; charset=utf-16le", "<\0p\0>\0\x12\x04\x13\x04", "html"],
    ["text/html", "\0<\0p\0>\x04\x12", "html"],
    [null, "\xff\xfe<\0p\0>\0", "html"],
    [null, "", "html"],
    ["image/png", "", undefined],
    ["text/plain", "<?xml version='1.0'?> <!-- a --> <!-- <p> --><html>", "html"],
    // There are so many comments that trying all ways to divide the text would never end.
    ["text/plain", "<!---->".repeat(140), "text"],
  ];
  for (const [type, body, kind] of cases)
    test(`${type} ${JSON.stringify(body)}`, () =>
      expect(documentKindOf(type, Buffer.from(body, "latin1"))).toBe(kind as "html"));
});

describe("documents", () => {
  const source = { url: "https://site.example/d", contentType: null };
  test("JSON", async () =>
    expect(documentMarkdown("json", bytes('{"a":[1]}'), source).markdown).toBe(
      '```json\n{\n  "a": [\n    1\n  ]\n}\n```',
    ));
  test("JSON keeps its numbers as they are written", () => {
    const json = String.raw`{"big":12345678901234567890, "one":1.10,"huge":1e400,"none":[],"no":{},"text":"caf\u00e9, \"1\"","list":[-0.0,{"a":null}]}`;
    const lines = [
      '"big": 12345678901234567890,',
      '"one": 1.10,',
      '"huge": 1e400,',
      '"none": [],',
      '"no": {},',
      '"text": "café, \\"1\\"",',
      '"list": [\n    -0.0,\n    {\n      "a": null\n    }\n  ]',
    ];
    const shown = `\`\`\`json\n{\n  ${lines.join("\n  ")}\n}\n\`\`\``;
    expect(documentMarkdown("json", bytes(json), source).markdown).toBe(shown);
  });
  test("JSON that would consist mostly of indentation is not formatted", async () => {
    const wide = `${"[".repeat(999)}${"1,".repeat(200_000)}1${"]".repeat(999)}`;
    for (const json of [`${"[".repeat(250_000)}${"]".repeat(250_000)}`, "[".repeat(500_000), wide])
      expect(documentMarkdown("json", bytes(json), source).markdown).toBe(`\`\`\`json\n${json}\n\`\`\``);
  });
  test("brackets within strings of JSON do not count as nesting", async () => {
    const json = JSON.stringify({ a: `"${"[{,".repeat(20_000)}` });
    expect(documentMarkdown("json", bytes(json), source).markdown).toStartWith('```json\n{\n  "a": ');
  });
  test("a feed with unclosed CDATA takes no longer than others", async () => {
    const open = "<![CDATA[".repeat(200_000);
    const read = documentMarkdown(
      "xml",
      bytes(`<rss><title>Feed</title><item><title><![CDATA[A & <b>]]></title></item>${open}`),
      source,
    );
    expect(read.markdown).toBe("# Feed\n\n## A &");
  });
  test("text", async () => expect(documentMarkdown("text", bytes("  a\nb "), source).markdown).toBe("a\nb"));
  const feeds: [name: string, xml: string, title: string, markdown: string, links: string[]][] = [
    [
      "RSS",
      "<rss><channel><title>News</title><link>https://site.example/</link><item><title><![CDATA[One & <b>two</b>]]></title><link>https://site.example/1</link><pubDate>Mon</pubDate><description>&lt;p&gt;Text&lt;/p&gt;</description></item></channel></rss>",
      "News",
      "# News\n\n## [One & two](https://site.example/1)\n\nMon\n\nText",
      ["https://site.example/1"],
    ],
    [
      "Atom",
      '<?xml version="1.0"?><feed><title>Log</title><entry><link rel="edit" href="/e"/><link rel="alternate" href="/2"/><title>Two [2]</title><updated>2024</updated><summary>Short</summary></entry><entry><title>Bare</title></entry></feed>',
      "Log",
      "# Log\n\n## [Two \\[2\\]](https://site.example/2)\n\n2024\n\nShort\n\n## Bare",
      ["https://site.example/2"],
    ],
    [
      "an item with a permanent guid and no link",
      "<rss><channel><title>G</title><item><guid>https://site.example/g</guid><description>About</description></item></channel></rss>",
      "G",
      "# G\n\n## [https://site.example/g](https://site.example/g)\n\nAbout",
      ["https://site.example/g"],
    ],
    [
      "a title whose brackets look like Markdown",
      "<rss><channel><title>B</title><item><title>[New]: a\\] (b)</title><link>https://site.example/b</link></item></channel></rss>",
      "B",
      "# B\n\n## [\\[New\\]: a\\\\\\] (b)](https://site.example/b)",
      ["https://site.example/b"],
    ],
    [
      "markup in entries, titles and descriptions",
      '<feed><title>News &amp; more</title><subtitle>All 10&lt;sup&gt;6&lt;/sup&gt;</subtitle><entry><title type="html">9×10&lt;sup&gt;16&lt;/sup&gt; J</title><content type="html">&lt;h1&gt;In&lt;/h1&gt;&lt;pre&gt;a  b&lt;/pre&gt;&lt;p&gt;10&lt;sup&gt;6&lt;/sup&gt; &lt;a href="/x"&gt;more&lt;/a&gt;&lt;/p&gt;&lt;p hidden&gt;Unseen&lt;/p&gt;</content></entry><entry><title>a &lt;b&gt; c</title><content type="xhtml"><div><p>One <b>two</b></p><ul><li>three</li></ul></div></content></entry></feed>',
      "News & more",
      "# News & more\n\nAll 10^6\n\n## 9×10^16 J\n\n### In\n\n```\na  b\n```\n\n10<sup>6</sup> [more](https://site.example/x)\n\n## a c\n\nOne **two**\n\n- three",
      [],
    ],
    [
      "no link that is no web address",
      "<rss><channel><title>J</title><item><title>T</title><link>javascript:alert(1)</link></item></channel></rss>",
      "J",
      "# J\n\n## T",
      [],
    ],
  ];
  test.each(feeds)("a feed: %s", async (_, xml, title, markdown, links) => {
    const read = documentMarkdown("xml", bytes(xml), source);
    expect([read.metadata.title, read.markdown, read.links]).toEqual([title, markdown, links]);
    expect(read.allLinks).toBe(links.join("\n"));
  });
  test("a PDF", async () => {
    const pdf =
      "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n4 0 obj<</Length 41>>stream\nBT /F1 12 Tf 10 100 Td (Hello PDF) Tj ET\nendstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF";
    const read = await converter.readPdf(bytes(pdf), { account: "", bytesMax: 1024, timeoutMs: 20_000 });
    expect(read.markdown).toBe("Hello PDF");
  });
});
