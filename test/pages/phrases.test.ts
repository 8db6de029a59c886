import { expect, test } from "bun:test";
import fc from "fast-check";
import { LOOKED_FOR, wordFigures } from "../../src/pages/content/phrases.ts";

const letters = fc.string({ unit: fc.constantFrom(..."ab 1.Ä"), maxLength: 8 });

for (const [at, pattern] of LOOKED_FOR.entries())
  test(`a text that matches has a word with a hint of it: ${pattern.source.slice(0, 60)}`, () => {
    // The generator knows no ends of words; a text around them makes up for it.
    const texts = fc.stringMatching(new RegExp(pattern.source.replaceAll("\\b", "")));
    let matching = 0;
    fc.assert(
      fc.property(texts, letters, letters, fc.boolean(), (said, before, after, isLoud) => {
        const written = `${before} ${said} ${after}`.replace(/\s+/g, " ").trim();
        const text = isLoud ? written.toUpperCase() : written;
        if (!pattern.test(text)) return;
        matching++;
        expect((wordFigures(text, new Map()).hints >> at) & 1).toBe(1);
      }),
      { numRuns: 1000 },
    );
    expect(matching).toBeGreaterThan(100);
  });

test("a text without any such word has no hints", () => {
  expect(wordFigures("The river begins as a thin stream between two hills", new Map()).hints).toBe(0);
});
