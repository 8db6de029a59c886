// The claim that a marker in a text stands for.

import { expect, test } from "bun:test";
import { CitationReader, type CitedPage } from "../../../../src/gateway/stages/chat-tools/cite.ts";

const page: CitedPage = { n: 1, url: "https://a.example/", title: "A", text: "Rye is a grain.", sealed: () => "" };
const claims = (text: string) =>
  new CitationReader(new Map([[1, page]]), 0).add(text).map(({ start, claim }) => [start, claim]);

test.each([
  ["Rye is a grain [1].", [[0, "Rye is a grain"]]],
  ["Rye is a grain. [1]", [[0, "Rye is a grain"]]],
  ["So. Rye is a grain [2] [3, 4] . [5] [1]", [[4, "Rye is a grain"]]],
  [
    "Is it? [1]\nIt is [1][1].",
    [
      [0, "Is it"],
      [11, "It is"],
      [11, "It is"],
    ],
  ],
  ["[1]", [[0, ""]]],
])("the claim in %p", (text, expected) => {
  expect(claims(text)).toEqual(expected as (string | number)[][]);
});

test("long white space before many markers takes no more time than other text", () => {
  expect(claims(`${" ".repeat(500)}x${"[1]".repeat(100)}`).length).toBe(100);
}, 2000);
