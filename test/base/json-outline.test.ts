import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseOutline, wholeOutline } from "../../src/base/json-outline.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Texts like answers with vectors; most are JSON. */
const NUMBER = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc.constantFrom("0", "-0", "1e5", "-1.5E-10", "2E+3", "0.25"),
  fc.constantFrom("01", "+1", ".5", "1.", "1e", "-", "NaN", "null", "1..2", "", '"1"', "[1]", "{}"),
);
const GOOD_NUMBER = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number));
const SEPARATOR = fc.constantFrom(",", ", ", " ,\n\t", ",\r");
const listOf = (number: fc.Arbitrary<string>, maxLength = 30) =>
  fc
    .tuple(fc.array(number, { minLength: 1, maxLength }), SEPARATOR, fc.constantFrom("", " ", "\n"))
    .map(([numbers, separator, space]) => `[${space}${numbers.join(separator)}${space}]`);
const LIST = fc.oneof(
  { weight: 9, arbitrary: listOf(GOOD_NUMBER) },
  { weight: 3, arbitrary: listOf(GOOD_NUMBER, 150) },
  { weight: 1, arbitrary: listOf(NUMBER) },
);
const ANSWER = fc
  .tuple(fc.array(LIST, { maxLength: 4 }), fc.string({ unit: "binary-ascii", maxLength: 20 }), fc.boolean())
  .map(([lists, model, isPretty]) => {
    const data = lists.map((list, index) => `{"index":${index},"embedding":${list}}`).join(isPretty ? ",\n  " : ",");
    return `{"object":"list","data":[${data}],"model":${JSON.stringify(model)},"usage":{"total_tokens":5}}`;
  });
/** A part is missing, is repeated, or is something else. */
const BROKEN = fc
  .tuple(ANSWER, fc.nat(), fc.nat(30), fc.constantFrom("", "]", ",", "[1,2]", '"', "\\", "é", "}"))
  .map(([text, at, length, put]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + put + text.slice(from + length);
  });

function parsed(text: string): unknown {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return "not JSON";
  }
}

/** What the outline stands for: with its lists put back; undefined where it does not apply. */
function restored(text: string): unknown {
  const bytes = bytesOf(text);
  let outline: ReturnType<typeof parseOutline>;
  try {
    outline = parseOutline(bytes);
  } catch {
    return "not JSON";
  }
  if (outline === undefined) return undefined;
  const { text: short, offsetOf, value } = outline;
  expect(value).toEqual(JSON.parse(short));
  // Between two offsets of the text is what lies between them in the bytes, but for the lists.
  const decoder = new TextDecoder();
  let whole = "";
  for (let at = 0; at < short.length; at++) whole += decoder.decode(bytes.subarray(offsetOf(at), offsetOf(at + 1)));
  return parsed(whole);
}

describe("an outline", () => {
  const vector = Array.from({ length: 100 }, (_, index) => index / 7 - 3);

  test("has a stand-in for each long list", () => {
    const text = JSON.stringify({ data: [{ embedding: vector }, { embedding: vector }], short: [1, 2], model: "m" });
    const outline = parseOutline(bytesOf(text));
    expect(outline?.value).toEqual({ data: [{ embedding: [0] }, { embedding: [0] }], short: [1, 2], model: "m" });
    const at = outline?.text.indexOf('"m"') ?? -1;
    expect(text.slice(outline?.offsetOf(at), outline?.offsetOf(at + 3))).toBe('"m"');
  });

  test("is not made of what has no long list, or other characters than ASCII", () => {
    expect(parseOutline(bytesOf('{"data":[1,2,3]}'))).toBeUndefined();
    expect(parseOutline(bytesOf(JSON.stringify({ vector, model: "é" })))).toBeUndefined();
    expect(parseOutline(bytesOf("not json"))).toBeUndefined();
  });

  test.each(["01", "+1", ".5", "1.", "1e", "-", "NaN", "Infinity", "1..2", "", "1 2", "1e5.5", "--1"])(
    "%p in a list is an error",
    (number) => {
      const text = `{"data":[${[...vector, number, ...vector].join(",")}],"other":[${vector.join(",")}]}`;
      expect(() => parseOutline(bytesOf(text))).toThrow(SyntaxError);
    },
  );

  test("is the same wherever the bytes lie", () => {
    for (const [before, spaces] of [0, 1, 2, 3].flatMap((at) => [0, 1, 2, 3].map((count) => [at, count] as const))) {
      const text = `{"data":${" ".repeat(spaces)}[${vector.join(",")}],"model":"m"}`;
      const bytes = bytesOf("x".repeat(before) + text).subarray(before);
      expect(parseOutline(bytes)?.value).toEqual({ data: [0], model: "m" });
      const broken = bytesOf("x".repeat(before) + text.replace("[-3", "[-03")).subarray(before);
      expect(parseOutline(broken)).toBeUndefined();
    }
  });

  test("what lies behind the bytes is no part of them", () => {
    for (const before of [0, 1]) {
      const memory = bytesOf(`${"x".repeat(before)}{"data":[${vector.join(",")}],"model":"m"}`);
      const end = memory.indexOf("]".charCodeAt(0));
      for (const cut of [end - 3, end - 2, end - 1, end])
        expect(() => parseOutline(memory.subarray(before, cut))).not.toThrow();
      expect(parseOutline(memory.subarray(before, end))).toBeUndefined();
    }
  });

  test.each([0, 1, 2, 3])("a mistake anywhere in a long list is found, %i bytes from a word", (before) => {
    for (let at = 0; at < vector.length; at++) {
      const items = vector.map((number, index) => (index === at ? "1.2.3" : String(number)));
      for (const list of [items.join(","), items.join(" , ").replace("1.2.3 ,", "1 2,"), `${items.join(",")},`]) {
        const bytes = bytesOf(
          `${"x".repeat(before)}{"data":[${list.replace("1.2.3", at % 2 === 0 ? "1.2.3" : "01")}]}`,
        );
        expect(parseOutline(bytes.subarray(before))).toBeUndefined();
      }
      const good = bytesOf(`${"x".repeat(before)}{"data":[${items.join(" ,").replace("1.2.3", "9".repeat(at + 1))}7]}`);
      expect(parseOutline(good.subarray(before))?.value).toEqual({ data: [0] });
    }
  });

  test("a list that breaks off is an error", () => {
    const text = `{"first":[${vector.join(",")}],"second":[${vector.join(",")}`;
    for (const cut of [text, text.slice(0, -1), `${text},`])
      expect(() => parseOutline(bytesOf(cut))).toThrow(SyntaxError);
  });

  test("is JSON exactly if the text is, and the same", () => {
    let made = 0;
    fc.assert(
      fc.property(fc.oneof(ANSWER, BROKEN), (text) => {
        const outlined = restored(text);
        if (outlined === undefined) return;
        made++;
        expect(outlined).toEqual(parsed(text) as { value: unknown });
      }),
      { numRuns: 3000 },
    );
    expect(made).toBeGreaterThan(300);
  });
});

test("the outline of a whole text leaves nothing out", () => {
  fc.assert(
    fc.property(fc.oneof(ANSWER, BROKEN), (text) => {
      let outline: ReturnType<typeof wholeOutline> | undefined;
      try {
        outline = wholeOutline(text);
      } catch {
        expect(parsed(text)).toBe("not JSON");
        return;
      }
      expect({ value: outline.value }).toEqual(parsed(text) as { value: unknown });
      expect([outline.text, outline.isWhole, outline.offsetOf(7)]).toEqual([text, true, 7]);
    }),
  );
});
