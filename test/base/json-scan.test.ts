import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonExcess } from "../../src/base/json-depth.ts";
import { type LargeJsonBounds, LONG_BYTES_MIN, lookOver } from "../../src/base/json-scan.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const NO_BOUNDS = { levels: 1e9, values: 1e9, escapes: 1e9 };
const look = (text: string, bounds: Partial<LargeJsonBounds> = {}) =>
  lookOver(Buffer.from(text), { ...NO_BOUNDS, ...bounds }, turn);

test("levels and values are counted as in small bodies", async () => {
  const bound = fc.integer({ min: 1, max: 30 });
  const json = fc.oneof(fc.json({ maxDepth: 12 }), fc.string({ unit: fc.constantFrom('"', "\\", "{", "]", ",", "a") }));
  await fc.assert(
    fc.asyncProperty(json, bound, bound, async (text, levels, values) => {
      // Short texts are not scanned if they cannot exceed a limit, so the text is extended.
      const long = `${text}${" ".repeat(100)}`;
      expect((await look(long, { levels, values })).excess).toBe(jsonExcess(long, { levels, values }) as never);
    }),
    { numRuns: 1000 },
  );
});

test("escapes are counted as they are written", async () => {
  const unit = fc.constantFrom("a", "\\n", '\\"', "\\\\", "\\u0041", "é", "/");
  const texts = fc.array(fc.array(unit, { maxLength: 20 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(texts, async (all) => {
      const text = JSON.stringify(null) + all.map((units) => `,"${units.join("")}"`).join("");
      const escapes = all.flat().filter((one) => one.startsWith("\\")).length;
      expect((await look(text, { escapes })).excess).toBeUndefined();
      if (escapes > 0) expect((await look(text, { escapes: escapes - 1 })).excess).toBe("escapes");
    }),
    { numRuns: 500 },
  );
});

describe("long texts", () => {
  const long = "\\n".repeat(LONG_BYTES_MIN / 2);
  test("are found, and their escapes are no matter", async () => {
    const text = `{"a":"${long}","b":["x","${long}"]}`;
    const { excess, longTexts } = await look(text, { escapes: 0 });
    expect(excess).toBeUndefined();
    expect(longTexts?.map(({ start, end }) => text.slice(start, end))).toEqual([`"${long}"`, `"${long}"`]);
  });
  test.each([
    ["is a key", `{"${"k".repeat(LONG_BYTES_MIN)}":"${long}"}`],
    ["is a key, after the others", `{"a":"${long}","${"k".repeat(LONG_BYTES_MIN)}" : 1}`],
    ["may be a key", `{"a":"${long}","${"k".repeat(LONG_BYTES_MIN)}"${" ".repeat(70)}:1}`],
    ["has no end", `{"a":"${long}`],
  ])("count where one %s: then all are parsed in one go", async (_name, text) => {
    expect(await look(text)).toMatchObject({ longTexts: undefined });
    expect(await look(text, { escapes: 1000 })).toMatchObject({ excess: "escapes", longTexts: undefined });
  });
});

test.each([
  ["quotes", `{"a":"${'\\"'.repeat(2_000_000)}"}`],
  ["space", `{"a":${" ".repeat(4_000_000)}1}`],
  ["numbers", `[${"1,".repeat(900_000)}1]`],
])("others have their turn while %s are looked over", async (_name, text) => {
  let turns = 0;
  await lookOver(Buffer.from(text), NO_BOUNDS, () => {
    turns++;
    return turn();
  });
  expect(turns).toBeGreaterThan(5);
});
