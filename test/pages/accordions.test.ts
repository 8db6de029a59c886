// The titles of parts that a reader can open stand with what they open.

import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const ANSWER =
  "It lies flat on the deck for a day and dries in the shade, since the sun takes the colour out of the cloth within a week.";
const REST = `<p>${"Sails are cut from cloth that was made for this, and sewn with thread that was made for the cloth. ".repeat(6)}</p>`;

/** Whether a title is kept if the fitted model is sure of long text, with a verdict of its own on the title. */
function isKept(html: string, title: string, sure = 0.95): boolean {
  const page = parsePage(`<title>Sails</title><main>${REST}${html}</main><footer>${REST}</footer>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(({ text }) => (text === ANSWER ? sure : text.length > 80 ? 0.95 : 0.05));
  const chosen = chooseMain(page, blocks, verdicts);
  return blocks.some((block) => block.text === title && chosen.has(block));
}

const TITLE = "How is a sail dried?";
const panel = (id = "a1") => `<div id="${id}" class="content"><div><p>${ANSWER}</p></div></div>`;
const forms: [name: string, html: string][] = [
  ["a button in a heading", `<h3><button aria-controls="a1" aria-expanded="false">${TITLE}</button></h3>${panel()}`],
  ["a button", `<div class="head"><button aria-controls="a1"><span>${TITLE}</span></button></div>${panel()}`],
  ["a part that works as a button", `<div role="button" data-bs-target="#a1">${TITLE}</div>${panel()}`],
  ["a link that opens", `<a data-toggle="collapse" href="#a1">${TITLE}</a>${panel()}`],
  ["a link that was resolved", `<a data-toggle="collapse" href="https://site.example/x#a1">${TITLE}</a>${panel()}`],
  ["a heading that opens", `<h4 data-toggle="collapse" data-target="#a1">${TITLE}</h4>${panel()}`],
];

describe("the title of a kept part is kept", () => {
  test.each(forms)("%s", (_, html) => expect(isKept(html, TITLE)).toBeTrue());
});

describe("it is not", () => {
  test.each(forms)("if the part is not kept: %s", (_, html) => expect(isKept(html, TITLE, 0.02)).toBeFalse());
  test.each([
    ["if the part stands elsewhere", `<button aria-controls="a1">${TITLE}</button><p>Other</p>${panel()}`, TITLE],
    ["if there is no such part", `<button aria-controls="b1">${TITLE}</button>${panel()}`, TITLE],
    ["if it shows more of a text", `<button aria-controls="a1">Read more</button>${panel()}`, "Read more"],
    ["if it leads to another page", `<a href="/drying#a1">${TITLE}</a>${panel()}`, TITLE],
    [
      "if it stands in the part",
      `<div id="a1"><button aria-controls="a1">Close</button><p>${ANSWER}</p></div>`,
      "Close",
    ],
  ])("%s", (_, html, title) => expect(isKept(html, title)).toBeFalse());
});
