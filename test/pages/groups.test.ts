import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { levelGroups } from "../../src/pages/content/groups.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

/** The verdicts after levelling. The text of each block is its verdict before. */
function level(html: string): readonly string[] {
  const blocks = cutBlocks(parsePage(html).body);
  const before = blocks.map(({ text }) => Number(text));
  return levelGroups(blocks, before).map((verdict) => verdict.toFixed(2));
}

const tile = (name: number, price: number) => `<li class="tile"><h3>${name}</h3><p>${price}</p></li>`;

test("blocks at the same position in similar parts get one verdict", () => {
  const tiles = [tile(0.9, 0.1), tile(0.7, 0.3), tile(0.8, 0.2), tile(0.8, 0.2)].join("");
  expect(level(`<p>0.5</p><ul>${tiles}</ul><p>0.1</p>`)).toEqual([
    "0.50",
    ...["0.80", "0.20", "0.80", "0.20", "0.80", "0.20", "0.80", "0.20"],
    "0.10",
  ]);
});

test("too few parts, plain paragraphs and rows of tables are judged separately", () => {
  const few = `<ul>${tile(0.9, 0.1)}${tile(0.7, 0.3)}${tile(0.8, 0.2)}</ul>`;
  expect(level(few)).toEqual(["0.90", "0.10", "0.70", "0.30", "0.80", "0.20"]);
  const paragraphs = "<div><p>0.1</p><p>0.2</p><p>0.3</p><p>0.4</p><p>0.5</p></div>";
  expect(level(paragraphs)).toEqual(["0.10", "0.20", "0.30", "0.40", "0.50"]);
  const rows = `<table>${["0.1", "0.2", "0.3", "0.4"].map((cell) => `<tr><td>${cell}</td><td>${cell}</td></tr>`).join("")}</table>`;
  expect(level(rows)).toEqual(["0.10", "0.10", "0.20", "0.20", "0.30", "0.30", "0.40", "0.40"]);
});

test("blocks in nested groups are judged by the inner group", () => {
  const inner = (text: string) => `<div class="a"><b>${text}</b><p>${text}</p></div>`;
  const outer = (text: string) => `<section>${inner(text)}${inner(text)}${inner(text)}${inner(text)}</section>`;
  const found = level(outer("0.2") + outer("0.4") + outer("0.6") + outer("0.8"));
  expect(found[0]).toBe("0.20");
  expect(found[found.length - 1]).toBe("0.80");
});
