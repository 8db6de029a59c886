import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJson, JsonPrefix, repairJson } from "../../src/chat/repair.ts";

describe("JsonPrefix", () => {
  test("accepts every prefix of valid JSON in any split, and is complete at the end", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat(40), { maxLength: 8 }), fc.boolean(), (value, cuts, indent) => {
        const text = JSON.stringify(value, null, indent ? 1 : undefined);
        const checker = new JsonPrefix();
        let at = 0;
        for (const cut of cuts) {
          expect(checker.push(text.slice(at, at + cut))).toBe(true);
          at += cut;
        }
        expect(checker.push(text.slice(at))).toBe(true);
        expect(checker.complete).toBe(true);
      }),
    );
  });

  test("any prefix of valid JSON is made whole by its closing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(60), (value, length) => {
        const prefix = JSON.stringify(value).slice(0, length);
        const checker = new JsonPrefix();
        checker.push(prefix);
        expect(isJson(prefix + checker.closing())).toBe(true);
      }),
      { numRuns: 500 },
    );
    const broken = new JsonPrefix();
    broken.push("{]");
    expect(broken.closing()).toBeUndefined();
  });

  test("agrees with JSON.parse on what is whole", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "nul",
      "l",
      " ",
      '"\\u00',
      'e9"',
      '"\n"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const checker = new JsonPrefix();
        for (const text of pieces) checker.push(text);
        expect(checker.complete).toBe(isJson(pieces.join("")));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    "{a",
    "{'",
    '{"a" 1',
    '{"a":1,,',
    "[1 2",
    "tru3",
    "01",
    "1.e",
    '"\\x',
    '"\\u12g',
    '{"a":1}}',
    "{]",
    '{"a":}',
    "[,",
    '{"a":1,}',
    "[1,]",
    '"\t',
  ])("refuses %p", (text) => expect(new JsonPrefix().push(text)).toBe(false));
});

describe("repairJson", () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ["", "{}"],
    ["  ", "{}"],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ["{'a':'b \"c\" d'}", '{"a":"b \\"c\\" d"}'],
    ['{"a":1,}', '{"a":1}'],
    ['{"a":[1,2,],}', '{"a":[1,2]}'],
    ["{a: True, b: None}", '{"a": true, "b": null}'],
    ['{"a":"line\nbreak"}', '{"a":"line\\nbreak"}'],
    ['{"a":"cut of', '{"a":"cut of"}'],
    ['{"a":{"b":[1,', '{"a":{"b":[1]}}'],
    ['{"a":', '{"a":null}'],
    ['{}{"a":1}', '{"a":1}'],
    ['{"re":"\\d+"}', '{"re":"\\\\d+"}'],
  ])("%p becomes %p", (text, mended) => expect(repairJson(text)).toBe(mended));

  test.each(["hello world", "{]", '{"a" "b"}', "[1 2]"])("gives up on %p", (text) =>
    expect(repairJson(text)).toBeUndefined(),
  );

  test("gives valid JSON or nothing, and leaves valid JSON alone", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().chain((text) => fc.nat(text.length).map((n) => text.slice(0, n))),
        ),
        (text) => {
          const mended = repairJson(text);
          if (mended !== undefined) expect(isJson(mended)).toBe(true);
          if (isJson(text)) expect(mended).toBe(text);
        },
      ),
    );
  });
});

test("what is nested beyond all measure is neither mended nor handed on", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(repairJson(nested(900))).toBe(nested(900));
  expect(repairJson(nested(40_000))).toBeUndefined();
});
