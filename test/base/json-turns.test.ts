import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonInTurns } from "../../src/base/json-turns.ts";

test("is the text that JSON.stringify gives", async () => {
  const value = fc.jsonValue({ depthSize: "medium" });
  await fc.assert(
    fc.asyncProperty(value, async (one) => {
      expect(await jsonInTurns(one)).toBe(JSON.stringify(one));
    }),
  );
  const gaps = { a: undefined, b: [undefined, null], c: Number.NaN, "": {} };
  expect(await jsonInTurns(gaps)).toBe(JSON.stringify(gaps));
});

test("long texts too, wherever they are cut", async () => {
  for (const unit of ["x", 'a"\n', "é€", "😀", "\ud83d", "\ude00", "ab😀"])
    for (const shift of [0, 1]) {
      const text = "-".repeat(shift) + unit.repeat(150_000 / unit.length);
      expect((await jsonInTurns({ text: [text] })) === JSON.stringify({ text: [text] })).toBe(true);
    }
});

test("lets others run", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await jsonInTurns(Array.from({ length: 40 }, () => '"\n'.repeat(500_000)));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
