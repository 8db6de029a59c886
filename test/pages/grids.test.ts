import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

describe("a table of short cells is kept whole or not at all", () => {
  const table = (mark: (row: number, cell: number) => number) => {
    const rows = [0, 1, 2].map((row) => `<tr>${[0, 1, 2].map((cell) => `<td>cell ${row} ${cell}</td>`).join("")}</tr>`);
    const document = parsePage(
      `<title>T</title><p>${"Told at length, with some care. ".repeat(30)}</p><table>${rows.join("")}</table>`,
    );
    const blocks = cutBlocks(document.body);
    const verdicts = blocks.map(({ index }) =>
      index === 0 ? 0.9 : mark(Math.floor((index - 1) / 3), (index - 1) % 3),
    );
    return chooseMain(document, blocks, verdicts).size - 1;
  };
  test("most of it", () => expect(table((row) => (row < 2 ? 0.9 : 0.01))).toBe(9));
  test("a column", () => expect(table((_, cell) => (cell === 0 ? 0.9 : 0.01))).toBe(9));
  test("a stray cell", () => expect(table((row, cell) => (row + cell === 0 ? 0.9 : 0.01))).toBe(0));
});
