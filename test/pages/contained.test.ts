import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { articlePage, BLOCKS, FRAME_TEXTS, PLACES } from "./article-pages.ts";

/** How many articles each block is put into, at each place. */
const ARTICLES = 5;
const WHOLE_SHARE = 0.95;

/** The main content of a page. */
function mainOf(html: string): string {
  const options = { url: "https://quay.example/a", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(html, options).markdown ?? "";
}

describe("a block of an article comes out whole", () => {
  for (const { name, html, texts } of BLOCKS)
    test(name, () => {
      const whole = PLACES.map((place) => {
        const pages = Array.from({ length: ARTICLES }, (_, seed) => mainOf(articlePage(seed, html, place)));
        for (const page of pages) expect(FRAME_TEXTS.filter((text) => page.includes(text))).toEqual([]);
        const kept = pages.filter((page) => texts.every((text) => page.includes(text))).length;
        return { place: place.name, isWhole: kept >= ARTICLES * WHOLE_SHARE };
      });
      expect(whole).toEqual(PLACES.map(({ name: place }) => ({ place, isWhole: true })));
    });
});

describe("a part at the end of an article that says itself that it is none is left out", () => {
  const links =
    '<ul><li><a href="/x">Ten knots for every day</a></li><li><a href="/y">The price of sails</a></li></ul>';
  const cases: readonly (readonly [string, string])[] = [
    ["related stories by heading", `<h2>Related stories</h2>${links}`],
    ["related stories by name", `<div class="related-posts">${links}</div>`],
    ["related stories in an aside", `<aside class="related"><h3>More</h3>${links}</aside>`],
    [
      "shares",
      '<div class="share"><a href="/fb">Ten knots for every day</a> <a href="/x">The price of sails</a></div>',
    ],
    ["labels", '<p class="tags">Tags: <a href="/t/1">Ten knots for every day</a></p>'],
    ["a navigation", `<nav>${links}</nav>`],
    ["a footer", `<footer>${links}</footer>`],
    ["comments", '<section id="comments"><h2>2 comments</h2><p>Ten knots for every day, said I.</p></section>'],
    ["the author's other stories", `<div class="author-box">${links}</div>`],
    ["a teaser in a custom element", `<x-inline-teaser>${links}</x-inline-teaser>`],
    ["a form", `<form>${links}<button>Send</button></form>`],
    [
      "the prose of a form",
      '<form action="/letter"><p>Ten knots and other news of the harbour come to you every month in a letter that costs nothing.</p><input type="email"><button>Send</button></form>',
    ],
    [
      "the prose of the author's box",
      '<div class="author-box"><h3>Ada Reed</h3><p>Ada Reed has written about Ten knots and harbours for twenty years. She lives on the north shore with two dogs.</p></div>',
    ],
    [
      "the prose of a teaser in a custom element",
      "<x-inline-teaser><h3>Ten knots for every day</h3><p>What every sailor should know before the winter.</p></x-inline-teaser>",
    ],
  ];
  for (const [name, html] of cases)
    test(name, () => {
      for (const place of PLACES.filter(({ isLast }) => isLast || name.startsWith("the prose")))
        for (let seed = 0; seed < 3; seed++) expect(mainOf(articlePage(seed, html, place))).not.toContain("Ten knots");
    });
});

test("the last short paragraph stays after an element that is never closed", () => {
  const text = "The keeper of the lock looked at the water and wrote down its height. ".repeat(8);
  const html = `<main><article><h1>U<p>${text}<p><b>The keeper closed the gate.<p>Then he went home for the night.</article></main>`;
  expect(mainOf(`<body>${html}</body>`)).toContain("Then he went home for the night.");
});

describe("the legend under a table", () => {
  const row = (cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  const table = `<table>${row(["Trip", "Mill", "Quay", "Note"])}${Array.from({ length: 150 }, (_, at) => row([`${at}`, `0${at % 10}:10`, `0${at % 10}:42`, ["a", "b", ""][at % 3] ?? ""])).join("")}</table>`;
  const page = (list: string) =>
    mainOf(
      `<body><main><h1>Line 7</h1>${table}<dl>${list}</dl><p>All times are those of the harbour.</p></main></body>`,
    );
  const meanings = ["no Sundays", "school days"];
  const pairs = meanings.map((text, at) => `<dt>${"ab"[at]}</dt><dd>${text}</dd>`);
  const lists: readonly (readonly [string, string])[] = [
    ["plain", pairs.join("")],
    ["in groups", pairs.map((pair) => `<div>${pair}</div>`).join("")],
    ["with paragraphs", pairs.map((pair) => pair.replace(/<dd>(.*?)</, "<dd><p>$1</p><")).join("")],
  ];
  for (const [name, list] of lists)
    test(`is kept with it: ${name}`, () => {
      const markdown = page(list);
      for (const [at, text] of meanings.entries()) expect(markdown).toContain(`\n${"ab"[at]}\n: ${text}`);
    });
  test("is none if a term stands in no cell", () => {
    for (const [, list] of lists) expect(page(list.replace("<dt>b<", "<dt>Fares<"))).not.toContain("no Sundays");
  });
});

describe("the navigation of a site is never content", () => {
  const items = ["Docs", "Install", "Configure", "API", "Blog", "Pricing"];
  const list = `<ul>${items.map((item) => `<li><a href="/${item}">${item}</a></li>`).join("")}</ul>`;
  const page = (navigation: string) =>
    `<body>${navigation}<main><h1>Journal</h1><ul><li><a href="/1">The first release</a></li>` +
    '<li><a href="/2">The second release</a></li></ul></main><footer><a href="/terms">Terms</a></footer></body>';
  for (const navigation of [
    `<nav>${list}</nav>`,
    `<div role="navigation">${list}</div>`,
    `<header><nav>${list}</nav></header>`,
  ])
    test(navigation.slice(0, 24), () => {
      const markdown = mainOf(page(navigation));
      expect(markdown).toContain("The first release");
      expect(markdown).toContain("The second release");
      expect(items.filter((item) => markdown.includes(item))).toEqual([]);
    });
});
