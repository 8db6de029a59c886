// What guardrails of the kind `pii` find in 5,000 made-up texts of eight locales, half of which have nothing to find.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plantedTexts } from "../../../../scripts/pii/corpus.ts";
import { measurePii, tableOf } from "../../../../scripts/pii/measure.ts";

test.each([1, 2, 3])("each kind is found, and little else: seed %p", (seed) => {
  const texts = plantedTexts(5000, seed);
  expect(new Set(texts.map(({ locale }) => locale)).size).toBe(8);
  const { kinds, wrong } = measurePii(texts);
  expect(kinds.every(({ planted }) => planted > 400)).toBe(true);
  const short = kinds.filter(({ recall, precision }) => recall < 0.99 || precision < 0.97);
  expect(short, wrong.slice(0, 10).join("\n")).toEqual([]);
});

test("the guide has the figures", () => {
  const guide = readFileSync(join(import.meta.dir, "../../../../docs/guides/guardrails.md"), "utf8");
  expect(guide).toContain(tableOf(measurePii(plantedTexts(5000)).kinds));
});
