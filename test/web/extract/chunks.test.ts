import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunksOf, estimateTokens, halvesOf } from "../../../src/web/extract/chunks.ts";

const section = (title: string, words: number) => `## ${title}\n\n${`${title} `.repeat(words).trim()}.`;

test("a text that fits is one part, and an empty page has none", () => {
  expect(chunksOf("", 100)).toEqual([]);
  expect(chunksOf("# A\n\nOne.\n\nTwo.", 100)).toEqual(["# A\n\nOne.\n\nTwo."]);
});

test("parts end before headings", () => {
  const sections = ["one", "two", "three", "four"].map((title) => section(title, 40));
  const chunks = chunksOf(sections.join("\n\n"), estimateTokens(sections[2] ?? "") * 2);
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) expect(chunk).toStartWith("## ");
  expect(chunks.join("\n\n")).toBe(sections.join("\n\n"));
});

test("a section that is too long is cut between its blocks, each part under its heading", () => {
  const blocks = Array.from({ length: 8 }, (_, n) => `Paragraph ${n} ${"word ".repeat(30).trim()}.`);
  const chunks = chunksOf(`## Long\n\n${blocks.join("\n\n")}`, 150);
  expect(chunks.length).toBeGreaterThan(2);
  for (const chunk of chunks) expect(chunk).toStartWith("## Long\n\nParagraph ");
  for (const block of blocks) expect(chunks.filter((chunk) => chunk.includes(block))).toHaveLength(1);
});

test("a table stays whole while it fits, and is cut between rows under its head when it does not", () => {
  const rows = Array.from({ length: 40 }, (_, n) => `| item ${n} | ${n}.50 EUR |`);
  const table = ["| Item | Price |", "| --- | --- |", ...rows].join("\n");
  const before = `Words before. ${"more ".repeat(60)}`;
  expect(chunksOf(`${before}\n\n${table}`, estimateTokens(table) + 20).at(-1)).toBe(table);
  const chunks = chunksOf(table, 200);
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) expect(chunk).toStartWith("| Item | Price |\n| --- | --- |\n| item ");
  for (const row of rows) expect(chunks.filter((chunk) => chunk.split("\n").includes(row))).toHaveLength(1);
});

test("code with blank lines is one block", () => {
  const code = "```js\nlet a;\n\nlet b;\n```";
  expect(chunksOf(`${"x ".repeat(100)}\n\n${code}\n\n${"y ".repeat(100)}`, 80)).toContainEqual(
    expect.stringContaining(code),
  );
});

test("for any text, the parts fit and contain all of its words", () => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(..."abcXYZ019", "é", "東", "🙂") });
  const line = fc.array(word, { maxLength: 60 }).map((words) => words.join(" "));
  const glue = fc.constantFrom("\n", "\n\n", "\n\n## H\n\n", "\n| a | b |\n| - | - |\n");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, glue), { maxLength: 12 }),
      fc.integer({ min: 30, max: 120 }),
      (pieces, most) => {
        const text = pieces.map(([words, after]) => words + after).join("");
        const chunks = chunksOf(text, most);
        for (const chunk of chunks) expect(estimateTokens(chunk)).toBeLessThanOrEqual(most);
        const letters = (given: string) => new Set(given.match(/[a-zA-Z019é東🙂]/gu) ?? []);
        expect([...letters(text)].filter((one) => !letters(chunks.join("\n")).has(one))).toEqual([]);
      },
    ),
  );
});

test("the halves of a part contain all of it; a part that cannot be divided has none", () => {
  const text = Array.from({ length: 10 }, (_, n) => `Line ${n} with some words.`).join("\n\n");
  expect(halvesOf(text)?.join("\n\n")).toBe(text);
  expect(halvesOf("word")).toBeUndefined();
});

test("a page of headings alone is split in linear time", () => {
  const chunks = chunksOf("# a\n".repeat(100_000), 60_000);
  expect(chunks.join("\n\n")).toBe(Array.from({ length: 100_000 }, () => "# a").join("\n\n"));
});
