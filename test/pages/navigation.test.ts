// The position of a page's links, and the priorities in a sitemap.

import { expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { parseSitemap } from "../../src/pages/convert/sitemap-text.ts";

const OPTIONS = { onlyMainContent: true, markdown: false, html: false, links: false };

function navigation(body: string) {
  const { navigation: links = [] } = extractPage(`<body>${body}</body>`, {
    ...OPTIONS,
    url: "https://site.example/here",
    navigation: true,
  });
  return links.map(({ url, label, place, group }) => [new URL(url).pathname, label, place, group]);
}

test("each link has its text, its position and its heading", () => {
  expect(
    navigation(`<header><a href="/"><img src="l.png" alt="Acme"></a></header>
      <nav><ul><li><a href="/a">A</a></li><li>Guides <ul><li><a href="/g/1">One</a></li><li><a href="/g/2"><b>Two</b> too</a></li></ul></li>
      <li><a href="/b">B</a><ul><li><a href="/b/1">B1</a></li></ul></li></ul></nav>
      <aside><h3>Chapters</h3><a href="/c">C</a></aside>
      <main><h1>Title</h1><p>See <a href="/d#part">D</a> and <a href="/a">A again</a></p></main>
      <div class="site-footer"><h4>Company</h4><ul><li><a href="/about">About</a></li></ul></div>`),
  ).toEqual([
    ["/", "Acme", "header", ""],
    ["/a", "A", "header", ""],
    ["/g/1", "One", "header", "Guides"],
    ["/g/2", "Two too", "header", "Guides"],
    ["/b", "B", "header", ""],
    ["/b/1", "B1", "header", "B"],
    ["/c", "C", "sidebar", "Chapters"],
    ["/d", "D", "content", "Title"],
    ["/about", "About", "footer", "Company"],
  ]);
});

test("links without a target are left out, and a link without text takes that of another link to the same page", () => {
  expect(
    navigation(`<a href="#x">x</a><a href="mailto:a@b.example">m</a><a href="javascript:x()">j</a><a>none</a>
      <a href="/logo"><svg></svg></a><a href="/logo" title="Home">words</a><a href="/t" aria-label="Labelled"></a>`),
  ).toEqual([
    ["/logo", "words", "content", ""],
    ["/t", "Labelled", "content", ""],
  ]);
});

test("finding the navigation takes time in proportion to the page, however deep or long that is", () => {
  const deep = `${"<ul><li>".repeat(5000)}<a href="/deep">deep</a>`;
  expect(navigation(deep)).toHaveLength(1);
  const long = Array.from({ length: 5000 }, (_, n) => `<li>${"word ".repeat(50)}<a href="/${n}">${n}</a>`).join("");
  expect(navigation(`<ul>${long}</ul>`)).toHaveLength(2000);
});

test("priorities of a sitemap belong to the page they stand with", () => {
  const { urls, priorities } = parseSitemap(
    `<urlset><url><loc>/a</loc><priority>0.8</priority></url><url><loc>/b</loc></url>
     <url><loc>/c</loc><priority>7</priority></url><url><loc>/d</loc><lastmod>2026</lastmod><priority> 0.1 </priority></url></urlset>`,
    "https://site.example/sitemap.xml",
  );
  expect(urls).toHaveLength(4);
  expect([...(priorities ?? [])]).toEqual([
    ["https://site.example/a", 0.8],
    ["https://site.example/d", 0.1],
  ]);
  expect(parseSitemap("<urlset><url><loc>/a</loc></url></urlset>", "https://site.example/").priorities).toBeUndefined();
});
