import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { spliceMembers, topLevelMembers } from "../../src/base/json-splice.ts";

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
  ])("%s with %j", (text, members, expected) => {
    expect(JSON.parse(spliceMembers(text, members))).toEqual(JSON.parse(expected));
    expect(spliceMembers(text, members).replaceAll(" ", "")).toBe(expected.replaceAll(" ", ""));
  });

  test("means the same as editing the parsed object", () => {
    const key = fc.constantFrom("a", "b", "model", 'q"', "\\", "ü", "");
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue()),
        fc.dictionary(key, fc.option(fc.jsonValue(), { nil: undefined })),
        fc.constantFrom(undefined, 1, "\t"),
        (object, members, indent) => {
          const expected: Record<string, unknown> = JSON.parse(JSON.stringify(object));
          for (const [name, value] of Object.entries(members)) {
            if (value === undefined) delete expected[name];
            else expected[name] = value;
          }
          const spliced = spliceMembers(JSON.stringify(object, null, indent), members);
          expect(JSON.parse(spliced)).toEqual(JSON.parse(JSON.stringify(expected)));
        },
      ),
    );
  });
});

test("topLevelMembers finds the value spans", () => {
  const text = '{"a":[1,{"b":"}"}],"c" : null}';
  const spans = [...topLevelMembers(text)].map(([key, [span]]) => [key, text.slice(span?.valueStart, span?.valueEnd)]);
  expect(spans).toEqual([
    ["a", '[1,{"b":"}"}]'],
    ["c", "null"],
  ]);
});
