import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseLongTexts } from "../../src/base/json-long-texts.ts";
import { lookOver } from "../../src/base/json-scan.ts";

const NO_BOUNDS = { levels: 1e9, values: 1e9, escapes: 1e9 };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const long = (unit: string) => unit.repeat(Math.ceil((300 * 1024) / unit.length));

/** The result of JSON.parse, or the fact that it refuses the text. */
async function both(text: string): Promise<[unknown, unknown]> {
  const plain = () => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return "refused";
    }
  };
  const { longTexts } = await lookOver(text, NO_BOUNDS, turn);
  return [await parseLongTexts(text, longTexts, turn).catch(() => "refused"), plain()];
}

const LONG = [long("x"), long("ü"), long("😀"), long('a "quote" \\ and\n'), long("\\u0041"), long("\u2028")];

test("values with long texts anywhere are what JSON.parse makes of them", async () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(...LONG));
  const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", LONG[0] as string));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null)),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(undefined, 2), async (one, indent) => {
      const [ours, plain] = await both(JSON.stringify(one, undefined, indent));
      expect(Bun.deepEquals(ours, plain, true)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

const x = LONG[0] as string;
test.each([
  ["a text without an end", `{"a":"${x}`],
  ["a text that is all there is", `"${x}"`],
  ["a line end within a text", `{"a":"${x}\n"}`],
  ["a control character within a text", `{"a":"${x}\u0001"}`],
  ["an escape that there is not", `{"a":"${x}\\x"}`],
  ["half an escape at the end", `{"a":"${x}\\"}`],
  ["two texts beside each other", `{"a":"${x}""${x}"}`],
  ["no colon", `{"a""${x}"}`],
  ["a long key", `{"${x}":1}`],
  ["a long key far from its colon", `{"${x}"${" ".repeat(200)}:1}`],
  ["a key twice", `{"a":"${x}","a":"${x}2"}`],
  ["a member that is no prototype", `{"__proto__":"${x}"}`],
  ["something behind it", `{"a":"${x}"} x`],
])("%s: as JSON.parse has it", async (_, text) => {
  const [ours, plain] = await both(text);
  expect(Bun.deepEquals(ours, plain, true)).toBe(true);
});

test("escapes at the edges of slices stay whole", async () => {
  for (let shift = 0; shift < 14; shift++)
    for (const unit of ["\\u00e9", "\\ud83d\\ude00", "\\\\", '\\"', "\\n\\\\u", "\\\\\\u0041"]) {
      const [ours, plain] = await both(`{"a":"${"x".repeat(shift)}${long(unit)}"}`);
      expect(plain).not.toBe("refused");
      expect(Bun.deepEquals(ours, plain, true)).toBe(true);
    }
});

test("others have their turn between the steps", async () => {
  let turns = 0;
  const counted = () => {
    turns++;
    return turn();
  };
  const text = JSON.stringify({ a: "x".repeat(20_000_000) });
  await parseLongTexts(text, (await lookOver(text, NO_BOUNDS, turn)).longTexts, counted);
  expect(turns).toBeGreaterThan(4);
});
