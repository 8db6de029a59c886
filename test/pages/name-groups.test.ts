// A class may say something of an element without naming it. An article that has comments is no comment.

import { describe, expect, test } from "bun:test";
import { besideHeadline } from "../../src/pages/content/beside.ts";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { nameGroupsWithoutStates } from "../../src/pages/content/name-groups.ts";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const paragraphs = Array.from(
  { length: 8 },
  (_, at) =>
    `The harbour was quiet on morning ${at + 1}, and the keeper walked along the wall to see whether the boats had come back from the long night at sea.`,
);
const teasers = Array.from(
  { length: 6 },
  (_, at) =>
    `<div class="card"><h3><a href="/x${at}">Another story number ${at}</a></h3><p>In this story the town council meets to talk about the new bridge, which has been planned for more than ten years and will cost more than anybody expected.</p></div>`,
).join("");
const COMMENT = "I never knew that about the keeper, and I have lived beside the harbour for twenty years, you know.";

function keptOf(classes: Readonly<Record<string, string>>, below = ""): string {
  const named = (place: string) => (classes[place] === undefined ? "" : ` class="${classes[place]}"`);
  const html = `<!doctype html><title>The keeper of the harbour - News</title>
<meta property="og:type" content="article">
<script type="application/ld+json">{"@type":"NewsArticle","headline":"The keeper of the harbour"}</script>
<header><nav><a href="/">Home</a> <a href="/about">About</a></nav></header>
<div><main${named("main")}><article${named("article")}><h1>The keeper of the harbour</h1>
<div${named("text")}>${paragraphs.map((text) => `<p>${text}</p>`).join("")}</div>${below}</article></main>
<div class="more"><h2>More stories</h2>${teasers}</div></div><footer>© 2024 News</footer>`;
  const options = { onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(html, { url: "https://news.example/keeper", ...options }).markdown ?? "";
}

const STATES = [
  ..."has-comments no-comments with-comments without-comments show-comments hide-comments has_comments".split(" "),
  ..."comments-open comments-closed comments-enabled comments-disabled is-comments-active".split(" "),
  ..."post-has-comments hasComments summary-item-has-comments-enabled no-comment".split(" "),
];

describe("an article with a state of its comments", () => {
  for (const place of ["main", "article", "text"])
    test.each(STATES)(`${place} of class %s is whole`, (state) => {
      const kept = keptOf({ [place]: `entry ${state}` });
      expect(paragraphs.filter((text) => !kept.includes(text))).toEqual([]);
    });

  test.each(["comment", "discussion", "reply-page"])("what holds the headline is no comment, even named %s", (name) => {
    const kept = keptOf({ article: name });
    expect(paragraphs.filter((text) => !kept.includes(text))).toEqual([]);
  });

  test.each([
    '<section class="comments">',
    '<section id="comments" class="comments-open">',
    '<section class="comments-area has-comments">',
  ])("comments in it are left out: %s", (start) => {
    const comments = `${start}<h2>2 comments</h2>${`<div><b>Ann</b><p>${COMMENT}</p></div>`.repeat(2)}</section>`;
    for (const classes of [{}, { article: "has-comments" }]) {
      const kept = keptOf(classes, comments);
      expect(paragraphs.filter((text) => !kept.includes(text))).toEqual([]);
      expect(kept).not.toContain(COMMENT);
    }
  });
});

test("each element is asked for its name once, however many blocks it holds", () => {
  const deep = '<div class="has-comments">'.repeat(50);
  const document = parsePage(`${deep}${paragraphs.map((text) => `<p>${text}</p>`).join("")}`);
  const blocks = cutBlocks(document.body);
  const asked: unknown[] = [];
  const isNamed = (element: unknown) => {
    asked.push(element);
    return false;
  };
  expect(besideHeadline({ document, blocks }, blocks, isNamed).size).toBe(0);
  expect(asked.length).toBeGreaterThan(50);
  expect(asked.length).toBe(new Set(asked).size);
});

test("of many classes no more is read than of other names", () => {
  const groupsOf = (classes: string) =>
    nameGroupsWithoutStates(cutBlocks(parsePage(`<p class="${classes}">a</p>`).body)[0]!.element);
  expect(groupsOf("has-x comments")).not.toBe(0);
  expect(groupsOf(`${"has-x ".repeat(60)}comments`)).toBe(0);
});

test("classes beyond those of real pages are kept in the page, but not looked at", () => {
  const classes = "a ".repeat(10_000);
  const { element } = cutBlocks(parsePage(`<p class="${classes}">a</p>`).body)[0]!;
  expect(element.attributes["class"]).toBe(classes);
  expect(element.className.length).toBe(8000);
});
