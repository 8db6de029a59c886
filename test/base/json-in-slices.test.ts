import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonBytesInTurns, jsonInTurns } from "../../src/base/json-in-slices.ts";
import { jsonText } from "../support/json-text.ts";

test("JSON in slices is the text that JSON.stringify gives", async () => {
  await fc.assert(
    fc.asyncProperty(jsonText, async (text) => {
      const value = JSON.parse(text);
      expect(await jsonInTurns(value)).toBe(JSON.stringify(value));
    }),
  );
  const gaps = { a: undefined, b: [undefined, null], c: Number.NaN, "": {} };
  expect(await jsonInTurns(gaps)).toBe(JSON.stringify(gaps));
});

test("long texts too, wherever they are cut", async () => {
  const unit = fc.array(fc.constantFrom("x", '"', "\n", "é", "€", "😀", "\ud83d", "\ude00", "\u0000", "\\"), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(unit, fc.nat(4), async (letters, shift) => {
      const text = "-".repeat(shift) + letters.join("").repeat(140_000 / letters.join("").length);
      expect((await jsonInTurns({ text: [text] })) === JSON.stringify({ text: [text] })).toBe(true);
    }),
    // The first half of a surrogate pair before a whole character, between whose halves the text must not be cut.
    { numRuns: 60, examples: [[["\ud83d", "😀", "x"], 3]] },
  );
});

test("values around the size that is serialised at once", async () => {
  const gaps = (length: number) => ({
    text: "x".repeat(length),
    none: undefined,
    list: [undefined, { none: undefined }, 1],
  });
  for (const length of [4000, 4060, 4070, 4080, 4090, 4096, 4100, 65_530, 65_540]) {
    const value = [gaps(length), { deep: [[gaps(length)], "é".repeat(length)] }];
    expect((await jsonInTurns(value)) === JSON.stringify(value)).toBe(true);
    expect(Buffer.concat(await jsonBytesInTurns(value)).toString() === JSON.stringify(value)).toBe(true);
  }
});

test.each([
  ["long texts", () => Array.from({ length: 40 }, () => '"\n'.repeat(500_000))],
  ["many short values", () => Array.from({ length: 60_000 }, (_, at) => ({ role: "user", content: `turn ${at}` }))],
])("serialising %s lets other work run", async (_, make) => {
  const value = make();
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await jsonInTurns(value);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test("each part of the bytes has a buffer of its own, and may be freed", async () => {
  const value = { list: Array.from({ length: 3000 }, (_, at) => ({ at, text: "aé€😀\n".repeat(at % 90) })) };
  const parts = await jsonBytesInTurns(value);
  expect(parts.length).toBeGreaterThan(2);
  expect(Buffer.concat(parts).equals(Buffer.from(JSON.stringify(value)))).toBe(true);
  expect(new Set(parts.map(({ buffer }) => buffer)).size).toBe(parts.length);
  expect(parts.every(({ byteOffset }) => byteOffset === 0)).toBe(true);
});
