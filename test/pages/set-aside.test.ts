import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { setAside } from "../../src/pages/content/set-aside.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const PROSE = "What a reader came for, told at length and with some care. ".repeat(8).trim();

/** The verdicts on the prose and on the parts beside it. All of them are 0.5 before. */
function verdicts(beside: string): readonly number[] {
  const blocks = cutBlocks(parsePage(`<body><div class="page"><p>${PROSE}</p>${beside}</div></body>`).body);
  return setAside(
    blocks,
    blocks.map(() => 0.5),
  );
}

describe("parts that a page marks as secondary count less", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a footer", "<footer><p>Where we are</p></footer>"],
    ["a dialog by role", '<div role="alertdialog"><p>Are you sure?</p></div>'],
    ["a modal part", '<div aria-modal="true"><p>Are you sure?</p></div>'],
    ["a name among signs", '<div class="x-related_posts"><p>Another story</p></div>'],
    ["a name in camel case", '<div id="pageDisclaimer"><p>No liability is taken.</p></div>'],
    ["a name at the start of camel case", '<div class="cookieNotice"><p>We use them.</p></div>'],
    ["text for screen readers", '<p class="visually-hidden">opens in a new window</p>'],
    ["a note on rights", "<p>© 2026 Example. All rights reserved.</p>"],
    [
      "links to the page in another form",
      '<p><a href="/7.pdf">Download as PDF</a> <a href="/7?back=1">Show the way back</a></p>',
    ],
    ["a form that asks for something", '<form><p>A letter every month</p><input type="email"></form>'],
    ["the box of the author", '<div class="authorBox"><p>Ada Reed writes about harbours.</p></div>'],
    ["a caption that names the photographer only", "<figure><figcaption>Photo by Ann Lee</figcaption></figure>"],
    ["a teaser in a custom element", "<x-inline-teaser><p>Another story</p></x-inline-teaser>"],
    ["a link to another story", '<p>Read more: <a href="/x">Two ferries for the north shore</a></p>'],
    ["a link to another story, in French", '<p><a href="/x">À lire aussi » Deux bacs pour la rive</a></p>'],
    ["a link to another story, in German", '<p><b>Lesen Sie auch:</b> <a href="/x">Zwei Fähren</a></p>'],
    ["a link to another story, in Russian", '<p>Читайте также: <a href="/x">Два парома</a></p>'],
    ["a link to another story, in Japanese", '<p>関連記事：<a href="/x">二つの渡し船</a></p>'],
    ["a line above links, in Spanish", "<p>Te puede interesar:</p>"],
    ["a line above links, in German", "<h3>Schon gelesen?</h3>"],
    ["the label of shares, in German", "<h3>Teilen mit:</h3>"],
    ["the label of an advertisement, in Polish", "<div>Reklama</div>"],
    ["ids and hashes", `<p>${"9303097ac1d3e541e1baf5303640756e ".repeat(4)}</p>`],
  ];
  for (const [name, beside] of cases) test(name, () => expect(verdicts(beside)).toEqual([0.5, 0.15]));
});

test("the footer of the site counts less even if it has more text than the page", () => {
  const print = `<p>${PROSE}</p>`.repeat(3);
  expect(verdicts(`<footer>${print}</footer>`)).toEqual([0.5, 0.15, 0.15, 0.15]);
  expect(verdicts(`<article><footer>${print}</footer></article>`).slice(1)).toEqual([0.5, 0.5, 0.5]);
});

describe("the verdict on other text does not change", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a name inside a longer word", '<div class="illegally correlated"><p>Another story</p></div>'],
    ["a sentence that begins like a link to another story", "<p>Read more than one book a week, the teacher says.</p>"],
    [
      "such a sentence with a link",
      '<p>Read more than one book a week, the teacher of the village <a href="/x">says</a>.</p>',
    ],
    ["a heading that begins like one", "<h2>Zum Thema Wasser</h2>"],
    ["a sentence that begins like a label", '<p>Share prices fell by <a href="/x">a tenth</a>.</p>'],
    [
      "a form around much of the page",
      `<form><p>${"All of it, told once more. ".repeat(30).trim()}</p><input type="text"></form>`,
    ],
    ["a post in a form", '<form><input type="hidden"><p>I have a teak deck with old seams.</p></form>'],
    ["a custom element with another name", "<ad-hoc-note><p>Another story</p></ad-hoc-note>"],
    ["a number that is no link", "<p>#12</p>"],
    [
      "a sentence about another form of a page",
      '<p>Download as PDF or as text: both have the times of <a href="/7">all lines</a>.</p>',
    ],
    [
      "a caption that says what the picture shows",
      "<figure><figcaption>The quay at noon, by Ann Lee</figcaption></figure>",
    ],
    ["long words", `<p>${"Donaudampfschifffahrtsgesellschaft ".repeat(4)}</p>`],
    ["addresses", `<p>${"https://example.com/a/1234567890/bcdef ".repeat(4)}</p>`],
  ];
  for (const [name, beside] of cases) test(name, () => expect(verdicts(beside)).toEqual([0.5, 0.5]));
});

test("the link with the number of a post never counts", () => {
  expect(verdicts('<p><a href="#post-12">#12</a></p>')).toEqual([0.5, 0]);
});

test("buttons, and short texts that are repeated many times, count somewhat less", () => {
  expect(verdicts("<button>Buy</button>")).toEqual([0.5, 0.325]);
  expect(verdicts("<p>Quick view</p>".repeat(6))).toEqual([0.5, ...Array<number>(6).fill(0.325)]);
  expect(verdicts("<p>Quick view</p>".repeat(5))).toEqual([0.5, ...Array<number>(5).fill(0.5)]);
});

test("a name around most of the text does not mark it as secondary", () => {
  const blocks = cutBlocks(
    parsePage(`<body><div class="recipe cookies"><p>${PROSE}</p></div><p>More of it.</p></body>`).body,
  );
  expect(
    setAside(
      blocks,
      blocks.map(() => 0.5),
    ),
  ).toEqual([0.5, 0.5]);
});
