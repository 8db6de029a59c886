// Regular expressions in linear time: they find what the platform's find, and no text and no expression makes them slow.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { LinearPattern } from "../../src/base/linear-pattern.ts";

/** Expressions whose first match is the longest in both. */
const ALIKE = [
  "abc",
  "a[bc]*d?",
  "\\d{2,4}",
  "(?:ab|a)(?:c|bcd)+",
  "^ab|cd$",
  "\\bcab\\b",
  "[^a]b{0,3}",
  "\\p{L}+\\d",
  "a.c",
  "\\u0061\\x62",
  "(?<name>b)a+",
  "\\Ba",
];

test.each(ALIKE)("finds what the platform finds: %s", (source) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "c", "d", "1", " ", "é"), maxLength: 14 }), (text) => {
      const found = new LinearPattern(source).find(text, 0);
      // The longest of the matches at the first place.
      const native = new RegExp(source, "u").exec(text);
      expect(found?.start).toBe(native?.index);
      if (native !== null) expect(found!.end).toBeGreaterThanOrEqual(native.index + native[0].length);
    }),
    { numRuns: 100 },
  );
});

const REFUSED: readonly (readonly [string, string])[] = [
  ["(a)\\1", "references"],
  ["a(?=b)", "look-ahead"],
  ["(?<!a)b", "look-behind"],
  ["(a", 'expected ")"'],
  ["a)", 'unexpected ")"'],
  ["*a", 'unexpected "*"'],
  ["a{2000}", "repeats more than"],
  ["(?:a{100}){100}", "too large"],
  ["(".repeat(200), "nested"],
  ["a{3,2}", "out of order"],
];

test.each(REFUSED)("refuses %s", (source, message) => {
  expect(() => new LinearPattern(source)).toThrow(message);
});

test("the length of the longest match is known", () => {
  const longest = ["abc", "a|bcd", "a{2,5}b?", "a+", "(?:ab){3}", "^$"].map(
    (source) => new LinearPattern(source).longest,
  );
  expect(longest).toEqual([3, 3, 6, Infinity, 6, 0]);
});

/** Expressions that take others exponential or quadratic time, each with a text of that kind. */
const SLOW: readonly (readonly [string, (length: number) => string])[] = [
  ["(a+)+$", (length) => `${"a".repeat(length)}!`],
  ["(a|aa)+$", (length) => `${"a".repeat(length)}!`],
  ["(.*)*x", (length) => "a".repeat(length)],
  ["(?:[a-z]+\\.?)+@", (length) => "ab.".repeat(length / 3)],
  ["(\\w+\\s?)+;", (length) => "word ".repeat(length / 5)],

  [`${"a?".repeat(30)}${"a".repeat(30)}`, (length) => "a".repeat(length)],
];

test.each(SLOW)("the work grows as the text does: %s", (source, text) => {
  const pattern = new LinearPattern(source);
  const took = (length: number) => {
    const given = text(length);
    const started = performance.now();
    pattern.find(given, 0);
    return performance.now() - started;
  };
  took(3000);
  // What grows with the square would take 100 times as long, what grows faster would never end.
  expect(took(30_000)).toBeLessThan(50 * Math.max(1, took(3000)) + 100);
});
