import { describe, expect, test } from "bun:test";
import { documentMarkdown } from "../../src/pages/convert/documents.ts";
import { type ExtractOptions, extractPage } from "../../src/pages/convert/extract.ts";

const OPTIONS: ExtractOptions = {
  url: "https://a.example/",
  onlyMainContent: false,
  markdown: true,
  html: false,
  links: true,
};

/** Repeats a piece of HTML, with its number. */
function repeated(count: number, piece: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => piece(at)).join("");
}

describe("what a limit leaves out is told", () => {
  const cases = [
    {
      name: "rows of a table",
      html: `<table><tr><th>No<th>Name${repeated(20_002, (at) => `<tr><td>${at}<td>row-${at}`)}</table><p>LAST`,
      holds: ["row-19998 ", "(3 more rows left out)", "LAST"],
      lacks: ["row-20000 "],
      omissions: ["Tables are too long: 3 rows were left out."],
    },
    {
      name: "columns of a table",
      html: `<table><tr>${repeated(102, (at) => `<th>c${at}`)}<tr>${repeated(102, (at) => `<td>v${at}`)}</table>`,
      holds: ["v99 ", "(2 more columns left out)"],
      lacks: ["v100"],
      omissions: ["Tables are too wide: 2 columns were left out."],
    },
    {
      name: "the end of a page",
      html: `${repeated(130_000, (at) => `<p>p${at}.`)}`,
      holds: ["p100000.", "(The page is too long: its end was left out)"],
      lacks: ["p129999."],
      omissions: ["The page has more elements than are read: its end is missing."],
    },
    {
      name: "the address of a link",
      html: `<p>See <a href="/${"a".repeat(5000)}">the plan</a>, <a href="javascript:${"b".repeat(5000)}">or not</a>.</p>`,
      holds: ["See the plan, or not."],
      lacks: ["aaaa"],
      omissions: ["Addresses are too long: 1 link was left without one."],
    },
    {
      name: "links",
      html: repeated(10_002, (at) => `<a href="/${at}">l${at}</a> `),
      holds: ["l10001"],
      lacks: [],
      omissions: ["The list of links is too long: 2 links were left out."],
    },
  ];
  for (const { name, html, holds, lacks, omissions } of cases)
    test(name, () => {
      const page = extractPage(`<body>${html}`, OPTIONS);
      expect(page.omissions).toEqual(omissions);
      expect(holds.filter((text) => page.markdown?.includes(text) !== true)).toEqual([]);
      expect(lacks.filter((text) => page.markdown?.includes(text) === true)).toEqual([]);
    });
});

test("entries of a feed", () => {
  const xml = `<rss><channel><title>News</title>${repeated(203, (at) => `<item><title>No ${at}</title></item>`)}</channel></rss>`;
  const feed = documentMarkdown("xml", Buffer.from(xml), { url: OPTIONS.url, contentType: "application/rss+xml" });
  expect(feed.markdown).toEndWith("(3 more entries were left out.)");
  expect(feed.omissions).toEqual(["The feed is too long: 3 entries were left out."]);
});

test("text beyond the blocks that are examined is kept, without the frame of the page", () => {
  const prose = (at: number) => `<p>Paragraph ${at} says what the one before it did not say.</p>`;
  const html = `<body><nav><a href="/x">Start</a></nav><main>${repeated(10_050, prose)}</main><footer><p>Imprint</p></footer>`;
  const { markdown, omissions } = extractPage(html, { ...OPTIONS, onlyMainContent: true, links: false });
  expect(markdown).toContain("Paragraph 10049 says");
  expect(markdown).not.toContain("Imprint");
  expect(omissions).toEqual([
    "The page has more blocks of text than are examined: its end is kept whole, without a choice of main content.",
  ]);
});

test("a page within the limits has no omissions", () => {
  expect(extractPage("<body><p>Short.</p>", OPTIONS)).not.toHaveProperty("omissions");
});
