import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJson, JsonPrefix, repairedValue, repairJson } from "../../src/base/json-repair.ts";
import { topLevelMembers } from "../../src/base/json-splice.ts";
import { anyText } from "../support/any-text.ts";
import { damagedText, jsonText, objectText } from "../support/json-text.ts";
import { cpuMs } from "../support/real-time.ts";

describe("JsonPrefix", () => {
  test("accepts every prefix of valid JSON in any split, and is complete at the end", () => {
    fc.assert(
      fc.property(jsonText, fc.array(fc.nat(40), { maxLength: 8 }), (text, cuts) => {
        const checker = new JsonPrefix();
        let at = 0;
        for (const cut of cuts) {
          expect(checker.push(text.slice(at, at + cut))).toBe(true);
          at += cut;
        }
        expect(checker.push(text.slice(at))).toBe(true);
        expect(checker.complete).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("any prefix of valid JSON is made whole by its closing", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const checker = new JsonPrefix();
        for (let length = 0; length <= text.length; length++) {
          const prefix = text.slice(0, length);
          expect([prefix, isJson(prefix + checker.closing(prefix))]).toEqual([prefix, true]);
          checker.push(text.slice(length, length + 1));
        }
      }),
    );
    const broken = new JsonPrefix();
    broken.push("{]");
    expect(broken.closing("{]")).toBeUndefined();
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

  test("what it accepts can still become JSON, and what it refuses is none", () => {
    fc.assert(
      fc.property(damagedText, (text) => {
        const checker = new JsonPrefix();
        if (checker.push(text)) expect([text, isJson(text + checker.closing(text))]).toEqual([text, true]);
        else expect(checker.closing(text)).toBeUndefined();
        expect([text, checker.complete]).toEqual([text, isJson(text)]);
      }),
      { numRuns: 1000 },
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
    ['\uFEFF{"a":1}', '{"a":1}'],
    ["{'a':\u00a01}", '{"a": 1}'],
    // The truncated key begins like an existing key.
    ['{"path":"x","path', '{"path":"x","path_":null}'],
    ['{"a":{"b":1},"b":{"b":2,"\\u006', '{"a":{"b":1},"b":{"b":2,"\\u0060":null}}'],
    ['{"":1,', '{"":1}'],
  ])("%p becomes %p", (text, mended) => expect(repairJson(text)).toBe(mended));

  test.each(["hello world", "{]", '{"a" "b"}', "[1 2]"])("gives up on %p", (text) =>
    expect(repairJson(text)).toBeUndefined(),
  );

  test("gives valid JSON or nothing, and leaves valid JSON alone", () => {
    fc.assert(
      fc.property(fc.oneof(jsonText, damagedText, anyText()), (text) => {
        const mended = repairJson(text);
        if (mended !== undefined) expect([text, isJson(mended)]).toEqual([text, true]);
        if (isJson(text)) expect(mended).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test("gives the value of what it gives", () => {
    fc.assert(
      fc.property(fc.oneof(jsonText, damagedText, anyText(), fc.constantFrom("", " ", "\ufeff{}")), (text) => {
        const mended = repairJson(text);
        expect([repairedValue(text)]).toEqual([mended === undefined ? undefined : JSON.parse(mended)]);
      }),
      { numRuns: 1000 },
    );
    expect(repairedValue("[".repeat(2000) + "]".repeat(2000))).toBeUndefined();
  });

  test("whatever is cut off, what came before it is kept", () => {
    fc.assert(
      fc.property(objectText, fc.nat(80), (text, length) => {
        const cut = text.slice(0, length);
        const mended = repairJson(cut);
        if (cut.includes("{")) expect([cut, typeof mended]).toEqual([cut, "string"]);
        const kept = JSON.parse(mended ?? "{}");
        for (const [name, [span, again]] of topLevelMembers(text)) {
          // A value that a later one may replace is not compared.
          if (span === undefined || again !== undefined || span.valueEnd >= length) continue;
          expect([cut, JSON.stringify(Object.entries(kept).find(([key]) => key === name)?.[1])]).toEqual([
            cut,
            JSON.stringify(JSON.parse(text.slice(span.valueStart, span.valueEnd))),
          ]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ["closers", "[{'a':1},".repeat(1) + "{'a':1},".repeat(60_000)],
  ["blanks", `{'a':${" ".repeat(500_000)}x`],
  ["blanks behind a comma", `['a',${"\n".repeat(500_000)}x`],
  ["commas", `{'a':1${", ".repeat(250_000)}x`],
  ["a fence", `\`\`\`json\n['a'${" \n".repeat(250_000)}x`],
  ["quotes", "'\"".repeat(250_000)],
  ["backslashes", `'${"\\".repeat(500_001)}`],
  ["words", `{${"a ".repeat(250_000)}`],
])("text made to be slow to mend is not: %s", (_name, text) => {
  // Work that grows with the square of the length would take minutes.
  expect(cpuMs(() => repairJson(text))).toBeLessThan(2000);
});

test("what is nested beyond all measure is neither mended nor handed on", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(repairJson(nested(900))).toBe(nested(900));
  expect(repairJson(nested(40_000))).toBeUndefined();
});
