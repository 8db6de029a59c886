import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { spliceMembers, topLevelMembers } from "../../src/base/json-splice.ts";
import { objectText } from "../support/json-text.ts";

describe("spliceMembers", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['{"model":"a","n":1}', { model: "b" }, '{"model":"b","n":1}'],
    [
      '{ "model" : "a" , "seed":9223372036854775807 }',
      { model: "b" },
      '{ "model" : "b" , "seed":9223372036854775807 }',
    ],
    ['{"a":1.0,"model":"x"}', { model: undefined }, '{"a":1.0}'],
    ['{"model":"x","a":1.0}', { model: undefined }, '{"a":1.0}'],
    ['{"model":"x"}', { model: undefined }, "{}"],
    ["{}", { model: "x" }, '{"model":"x"}'],
    [" { } ", { model: "x" }, ' { "model":"x"} '],
    ['{"a":{"model":"in"},"model":"x"}', { model: "y", b: [1] }, '{"a":{"model":"in"},"model":"y","b":[1]}'],
    ['{"a":"\\"model\\":\\\\","model":"x"}', { model: "y" }, '{"a":"\\"model\\":\\\\","model":"y"}'],
    ['{"m\\u006fdel":"x"}', { model: "y" }, '{"m\\u006fdel":"y"}'],
    ['{"a":1,"b":2,"c":3}', { a: undefined, b: undefined }, '{"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined, c: undefined }, '{"a":1}'],
    ['{"a":1,"b":2,"c":3}', { a: undefined, b: undefined, c: undefined }, "{}"],
    ['{"model":"x","model":"y","z":0}', { model: "w" }, '{"model":"w","z":0}'],
    ['{"model":"x","mod\\u0065l":"y","z":0}', { model: "w" }, '{"mod\\u0065l":"w","z":0}'],
    ['{"model":"x","z":["model",{"model":0}]}', { model: "w" }, '{"model":"w","z":["model",{"model":0}]}'],
    ['{"a\\"":1,"z":0,"a\\"":2}', { 'a"': 3 }, '{"z":0,"a\\"":3}'],
    ['{"role":"model","mod\\u0065l":"y"}', { model: "w" }, '{"role":"model","mod\\u0065l":"w"}'],
    ['{"id":1,"model":"x"}', { model: "w", id: 2 }, '{"id":2,"model":"w"}'],
    ['{"id" : [1,"]"] ,"model":"x"}', { id: { a: "b" }, model: "w" }, '{"id" : {"a":"b"} ,"model":"w"}'],
  ])("%s with %j", (text, members, expected) => {
    expect(JSON.parse(spliceMembers(text, members))).toEqual(JSON.parse(expected));
    expect(spliceMembers(text, members).replaceAll(" ", "")).toBe(expected.replaceAll(" ", ""));
    expect(spliceMembers(text, members, JSON.parse(text))).toBe(spliceMembers(text, members));
  });

  // Members are compared in sorted order, since parsing moves integer-like keys to the front.
  const plain = (value: object) => JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  const key = fc.oneof(fc.constantFrom("a", "b", "model", "\u0000", "__proto__", "constructor", "0", ""), fc.string());
  const edits = fc
    .array(fc.tuple(key, fc.option(fc.jsonValue(), { nil: undefined })), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));

  test("means the same as editing the parsed object", () => {
    fc.assert(
      fc.property(objectText, edits, (text, members) => {
        const expected = JSON.parse(text);
        for (const [name, value] of Object.entries(members)) {
          if (value === undefined) delete expected[name];
          else Object.defineProperty(expected, name, { value, enumerable: true, configurable: true, writable: true });
        }
        expect(plain(JSON.parse(spliceMembers(text, members)))).toBe(plain(JSON.parse(JSON.stringify(expected))));
        expect(spliceMembers(text, members, JSON.parse(text))).toBe(spliceMembers(text, members));
      }),
      { numRuns: 300 },
    );
  });

  test("keeps the spelling of every member it was not told to change", () => {
    const spellings = (text: string, without: object) =>
      [...topLevelMembers(text)]
        .filter(([name]) => !Object.hasOwn(without, name))
        .map(([name, spans]) => [name, text.slice(spans.at(-1)?.valueStart, spans.at(-1)?.valueEnd)]);
    fc.assert(
      fc.property(objectText, edits, (text, members) => {
        expect(spellings(spliceMembers(text, members), members).sort()).toEqual(spellings(text, members).sort());
      }),
      { numRuns: 300 },
    );
  });
});

test("topLevelMembers finds every member, and its value", () => {
  fc.assert(
    fc.property(objectText, (text) => {
      const found = [...topLevelMembers(text)].map(([name, spans]) => {
        const span = spans.at(-1);
        expect(JSON.parse(text.slice(span?.keyStart).match(/^"(?:[^"\\]|\\.)*"/s)?.[0] ?? "")).toBe(name);
        return [name, JSON.parse(text.slice(span?.valueStart, span?.valueEnd))];
      });
      expect(JSON.stringify(found.sort())).toBe(JSON.stringify(Object.entries(JSON.parse(text)).sort()));
    }),
    { numRuns: 300 },
  );
});

test("topLevelMembers finds the value spans", () => {
  const text = '{"a":[1,{"b":"}"}],"c" : null}';
  const spans = [...topLevelMembers(text)].map(([key, [span]]) => [key, text.slice(span?.valueStart, span?.valueEnd)]);
  expect(spans).toEqual([
    ["a", '[1,{"b":"}"}]'],
    ["c", "null"],
  ]);
});

test.each([
  '{"data":[1,2,3],"model":"m"}',
  '{"data":[-1.5e3,"]","["],"model":"m"}',
  '{"data":[1,[2,[3,"]"]],{"x":[4,5]}],"model":"m"}',
  '{"data":[[1],[2],[3,{"model":"inner"}]],"model":"m"}',
])("lists of numbers are passed over: %s", (text) => {
  expect(JSON.parse(spliceMembers(text, { model: "ours" }))).toEqual({ ...JSON.parse(text), model: "ours" });
});
