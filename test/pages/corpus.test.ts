import { describe, expect, test } from "bun:test";
import { convertPage, corpusPages, scorePage } from "../support/page-corpus.ts";

/** The minimum F1 score by words that a page of each kind must reach against its marked elements. */
const FLOORS: Readonly<Record<string, number>> = {
  article: 0.95,
  cjk: 0.95,
  collection: 0.95,
  contract: 1,
  documentation: 0.95,
  forum: 0.88,
  listing: 0.9,
  mathematics: 0.9,
  medicine: 1,
  product: 0.95,
  recipe: 0.95,
  rtl: 0.95,
  service: 0.95,
  song: 1,
  timetable: 0.97,
};

const pages = corpusPages();

describe("pages are converted as expected", () => {
  for (const page of pages)
    test(page.name, () => {
      const markdown = convertPage(page);
      expect(markdown).toBe(page.expected ?? "");
      // The expected text was written by hand or by --update. Either way it must contain what the page marks.
      expect(scorePage(page, markdown)).toBeGreaterThanOrEqual(FLOORS[page.kind] ?? 1);
    });
});

test("every kind has a page and a floor", () => {
  expect([...new Set(pages.map(({ kind }) => kind))].sort()).toEqual(Object.keys(FLOORS).sort());
});
