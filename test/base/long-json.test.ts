import { expect, test } from "bun:test";
import fc from "fast-check";
import { lookOver } from "../../src/base/json-scan.ts";
import { spliceMembers } from "../../src/base/json-splice.ts";
import { isSameText, LongJson, parseLongJson } from "../../src/base/long-json.ts";

const NO_BOUNDS = { levels: 1e9, values: 1e9, escapes: 1e9 };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const long = (unit: string) => unit.repeat(Math.ceil((300 * 1024) / unit.length));

async function parsed(text: string, pause = turn) {
  const bytes = Buffer.from(text);
  return parseLongJson(bytes, await lookOver(bytes, NO_BOUNDS, turn), pause);
}

/** The result of JSON.parse, or the fact that it refuses the text. */
async function both(text: string): Promise<[unknown, unknown]> {
  const plain = () => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return "refused";
    }
  };
  return [
    await parsed(text).then(
      ({ value }) => value,
      () => "refused",
    ),
    plain(),
  ];
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
  await parsed(text, counted);
  expect(turns).toBeGreaterThan(4);
});

const element = JSON.stringify({ role: "user", content: `${"word ".repeat(400)}\n "é" [1,2] {` });
const list = (elements: number, each = element) => `[${Array(elements).fill(each).join(",")}]`;

test.each([
  ["a long list", `{"model":"m","messages":${list(1000)},"n":1}`],
  ["two of them", `{"a":${list(300)},"b":${list(300)}}`],
  ["a key twice", `{"a":${list(300)},"a":${list(200, "[]".repeat(1))}, "a" :[ ${list(400)} ]}`],
  [
    "a long string in it",
    `{"a":${list(100)},"b":[${element},{"x":"${long("é")}"},"${long("y")}",${list(200).slice(1)}}`,
  ],
  ["one long string in a short list", `{"a":["${long("x")}"],"b":[["${long("x")}"]]}`],
  ["one list in a list", `{"a":[${list(400)}]}`],
  ["no list but a key", `{${list(400)}:1}`],
  ["an element missing between pieces", `{"a":${list(400, "")}}`],
  ["an element missing at the end", `{"a":${list(400).slice(0, -1)},]}`],
  ["an element missing in the middle", `{"a":[${list(200).slice(1, -1)},,${list(200).slice(1)}}`],
  ["the wrong end", `{"a":${list(400).slice(0, -1)}}}`],
  ["an object closed as a list", `{"a":[${list(200).slice(1, -1)},{"b":1],${list(200).slice(1)}}`],
  ["a list without an end", `{"a":${list(400).slice(0, -1)}`],
  ["space alone in it", `{"a":[${" ".repeat(200_000)}]}`],
  ["commas alone in it", `{"a":[${",".repeat(300_000)}]}`],
  ["a member that is no prototype", `{"__proto__":${list(400)}}`],
  ["a list that is all there is", list(400)],
])("%s: as JSON.parse has it", async (_, text) => {
  const [ours, plain] = await both(text);
  expect(Bun.deepEquals(ours, plain, true)).toBe(true);
});

test("an edit of the outline keeps the bytes of long values", async () => {
  const text = `{"model":"a","messages":${list(1000)},"text":"${long("é")}", "x" : 1.50 }`;
  const { text: read } = await parsed(text);
  expect(read.outline.length).toBeLessThan(1000);
  expect(read.toString()).toBe(text);
  expect(read.length).toBe(Buffer.byteLength(text));
  const changes = { model: "b", stream: true };
  const changed = read.edited(spliceMembers(read.outline, changes));
  expect(changed.toString()).toBe(spliceMembers(text, changes));
  expect(read.edited(spliceMembers(read.outline, { messages: [] })).toString()).toBe(
    spliceMembers(text, { messages: [] }),
  );
  // The long values are parts of the bytes that were read.
  const of = (one: Buffer) => one.buffer;
  expect(new Set(changed.parts.filter(({ length }) => length > 1000).map(of))).toEqual(
    new Set(read.parts.filter(({ length }) => length > 1000).map(of)),
  );
});

test.each([
  ['"image"', true, false],
  ["image_url", false, false],
  ["\\u00e9", false, true],
])("words and spelled characters are found in the bytes: %s", async (word, isThere, isSpelled) => {
  const text = `{"a":${list(300)},"b":${isThere ? word : '"x"'},"c":"${isSpelled ? word : ""}"}`;
  const { text: read } = await parsed(text);
  expect([read.includes(word), read.spellsCharacters]).toEqual([isThere || isSpelled, isSpelled]);
});

test("a spelled character is found where a window of the scan ends", async () => {
  for (let shift = 0; shift < 8; shift++) {
    const { text } = await parsed(`{"a":"${"x".repeat(65_536 - 10 + shift)}\\u0041${long("y")}"}`);
    expect(text.spellsCharacters).toBe(true);
  }
});

test("a text that is built anew is the same, and an edited one is not", async () => {
  const text = `{"model":"a","messages":${list(300)}}`;
  const { text: read } = await parsed(text);
  const edit = (model: string) => read.edited(spliceMembers(read.outline, { model }));
  const { text: again } = await parsed(text);
  const written = (model: string) => LongJson.ofParts([Buffer.from(spliceMembers(text, { model }))]);
  expect(isSameText(edit("b"), edit("b"))).toBe(true);
  expect(isSameText(edit("b"), edit("c"))).toBe(false);
  expect(isSameText(read, again)).toBe(true);
  expect(isSameText(edit("b"), written("b"))).toBe(true);
  expect(isSameText(written("b"), written("c"))).toBe(false);
  expect(isSameText(written("b"), "b")).toBe(false);
});
