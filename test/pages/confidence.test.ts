import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { predictQuality } from "../../src/pages/content/confidence.ts";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { articlePage, PLACES } from "./article-pages.ts";

const qualityOf = (html: string, onlyMainContent = true) =>
  extractPage(html, {
    url: "https://a.example/",
    onlyMainContent,
    markdown: true,
    html: false,
    links: false,
  }).quality;

test("an article is a sure choice, a page of links is not", () => {
  const article = qualityOf(articlePage(1, "<p>One more line of it.</p>", PLACES[0] as (typeof PLACES)[number])) ?? 0;
  const links = Array.from({ length: 40 }, (_, at) => `<li><a href="/${at}">Entry ${at}</a></li>`).join("");
  expect(article).toBeGreaterThan(0.85);
  expect(qualityOf(`<ul>${links}</ul>`) ?? 0).toBeLessThan(0.7);
});

test("nothing is predicted where the program chooses nothing", () => {
  expect(qualityOf("<p>Text</p>", false)).toBeUndefined();
  expect(qualityOf("<img src='/a.png'>")).toBeUndefined();
});

test("the prediction rises with the verdicts on what is kept and falls with those on what is not", () => {
  const blocks = cutBlocks(parsePage("<p>One paragraph of text.</p><p>Another one as long.</p>").body);
  const [first] = blocks;
  const kept = new Set(first === undefined ? [] : [first]);
  const predicted = [
    [0.2, 0.8],
    [0.8, 0.8],
    [0.8, 0.2],
    [0.99, 0.01],
  ].map((verdicts) => predictQuality(blocks, verdicts, kept));
  expect(predicted).toEqual([...predicted].sort((a, b) => a - b));
  expect(predictQuality(blocks, [0.9, 0.9], new Set())).toBe(0);
});

test("less is predicted for kept text of which the verdicts are unsure, though as much of it is expected to be right", () => {
  const blocks = cutBlocks(parsePage("<p>The first paragraph.</p><p>The other paragraph.</p>").body);
  const [sure, unsure] = [
    [0.98, 0.22],
    [0.6, 0.6],
  ].map((verdicts) => predictQuality(blocks, verdicts, new Set(blocks)));
  expect(sure as number).toBeGreaterThan((unsure as number) + 0.03);
});
