// Lists of facts that look like one that is kept.

import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const REST = `<p>${"Sails are cut from cloth that was made for this, and sewn with thread that was made for the cloth. ".repeat(6)}</p>`;
const rows = (facts: Readonly<Record<string, string>>) => Object.entries(facts);
const list = (facts: Readonly<Record<string, string>>, name = "facts") =>
  `<dl class="${name}">${rows(facts)
    .map(([key, value]) => `<dt>${key}</dt><dd>${value}</dd>`)
    .join("")}</dl>`;
const table = (facts: Readonly<Record<string, string>>) =>
  `<table class="facts">${rows(facts)
    .map(([key, value]) => `<tr><th>${key}</th><td>${value}</td></tr>`)
    .join("")}</table>`;
const SIZES = { Luff: "9.20 m", Leech: "8.80 m", Foot: "3.10 m" };
const STUFF = { Cloth: "Dacron", Thread: "Polyester", Rings: "Brass" };

/** The kept text, if the fitted model is sure of the sizes and has another verdict on the rest of the facts. */
function kept(html: string, verdict: number): string {
  const page = parsePage(`<title>Jib</title><main><h1>Jib</h1>${REST}${html}</main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(({ text }) =>
    / m$|^(?:Luff|Leech|Foot)$/.test(text) || text.length > 80 ? 0.9 : verdict,
  );
  return [...chooseMain(page, blocks, verdicts)].map(({ text }) => text).join("\n");
}

describe("a list that looks like a kept one is kept", () => {
  test.each([
    ["beside it", `${list(SIZES)}${list(STUFF)}`],
    ["in another part", `<section>${list(SIZES)}</section><div><div><h3>Stuff</h3>${list(STUFF)}</div></div>`],
    ["as tables", `<section>${table(SIZES)}</section><section>${table(STUFF)}</section>`],
  ])("%s", (_, html) => expect(kept(html, 0.15)).toContain("Brass"));
});

describe("it is not", () => {
  const linked = {
    Cloth: '<a href="/a">Dacron</a>',
    Thread: '<a href="/b">Polyester</a>',
    Rings: '<a href="/c">Brass</a>',
  };
  test.each([
    ["if the look is sure that it is none", `${list(SIZES)}${list(STUFF)}`, 0.05],
    ["if it has another name", `<div>${list(SIZES)}</div><div>${list(STUFF, "meta")}</div>`, 0.15],
    [
      "if it is a table that lays out a part of the page",
      `${table(SIZES)}<div><table class="facts"><tr><td>You may not post</td></tr><tr><td>Brass</td></tr></table></div>`,
      0.15,
    ],
    ["if none is kept", `<div>${list(STUFF)}</div><div>${list(STUFF)}</div>`, 0.15],
    ["if it has links", `<div>${list(SIZES)}</div><div>${list(linked)}</div>`, 0.15],
    ["in the frame of the page", `<div>${list(SIZES)}</div><footer>${list(STUFF)}</footer>`, 0.15],
    ["where the page sets it aside", `<div>${list(SIZES)}</div><div class="related">${list(STUFF)}</div>`, 0.15],
  ])("%s", (_, html, verdict) => expect(kept(html, verdict)).not.toContain("Brass"));
});
