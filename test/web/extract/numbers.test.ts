import { expect, test } from "bun:test";
import fc from "fast-check";
import { readDate, readNumber, yesOrNo } from "../../../src/web/extract/numbers.ts";

test.each<[string, string, number | undefined]>([
  ["19.90", "price", 19.9],
  ["$1,299.00", "price", 1299],
  ["1.299,00 €", "price", 1299],
  ["1 299,00 kr", "price", 1299],
  ["1’299", "price", undefined],
  ["1'299", "price", 1299],
  ["EUR 5", "price", 5],
  ["US$ 5", "price", 5],
  ["5 EUR", "price", 5],
  ["12,5", "size", 12.5],
  ["1,299,000", "size", 1299000],
  ["-3", "temperature", -3],
  ["0.125", "size", 0.125],
  ["1,299", "price", undefined],
  ["1.299", "price", undefined],
  ["1,29,000", "price", undefined],
  ["5-6", "price", undefined],
  ["from 5", "price", undefined],
  ["5 kg", "weight", undefined],
  ["5 kg", "weightKg", 5],
  ["4 servings", "servings", 4],
  ["30 min", "prep_minutes", 30],
  ["PT90M", "prep_minutes", 90],
  ["PT1H30M", "time_hours", 1.5],
  ["PT90M", "prep", undefined],
  ["P", "minutes", undefined],
  ["12345678901234567", "size", undefined],
  ["", "size", undefined],
])("%s as %s", (text, field, expected) => {
  expect(readNumber(text, field)).toBe(expected as never);
});

test("a number as the language writes it is that number", () => {
  fc.assert(
    fc.property(fc.integer({ min: -999_999, max: 999_999 }), fc.constantFrom("", "€", "$"), (cents, sign) => {
      const text = `${sign}${(cents / 100).toFixed(2)}`;
      expect(readNumber(text, "price")).toBe(Number((cents / 100).toFixed(2)));
    }),
  );
});

test("dates, times, yes and no", () => {
  expect(readDate("2026-05-01T10:00Z", "date")).toBe("2026-05-01");
  expect(readDate("2026-05-01T10:00Z", "date-time")).toBe("2026-05-01T10:00:00Z");
  expect(readDate("2026-05-01", "date-time")).toBeUndefined();
  expect(readDate("2026-02-30", "date")).toBeUndefined();
  expect(readDate("May 1st", "date")).toBeUndefined();
  expect(["https://schema.org/InStock", "SoldOut", "True", "no", "maybe"].map(yesOrNo)).toEqual([
    true,
    false,
    true,
    false,
    undefined,
  ]);
});

test("long texts are no numbers", () => {
  expect(readNumber("1,".repeat(100_000), "price")).toBeUndefined();
});
