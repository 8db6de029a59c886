import { expect, test } from "bun:test";
import fc from "fast-check";
import { isNestedDeeper, jsonExcess } from "../../src/base/json-depth.ts";
import { jsonText } from "../support/json-text.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("measures how deep any JSON is nested, whatever its strings contain", () => {
  const wrapped = fc.tuple(jsonText, fc.nat(40), fc.boolean());
  fc.assert(
    fc.property(wrapped, ([inner, levels, lists]) => {
      const [open, close] = lists ? ["[", "]"] : ['{"[\\"":', "}"];
      const json = open.repeat(levels) + inner + close.repeat(levels);
      // If a key is repeated, parsing keeps only the last value, so the text may be deeper than the parsed value but
      // not the reverse.
      const depth = depthOf(JSON.parse(json));
      const deepest = Math.max(depth, levels + depthOfText(inner));
      expect(isNestedDeeper(json, deepest)).toBe(false);
      if (deepest > 0) expect(isNestedDeeper(json, deepest - 1)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** The depth of a text, computed in another way: from what is left without strings. */
function depthOfText(json: string): number {
  let depth = 0;
  const depths = [...json.replace(/"(?:[^"\\]|\\.)*"/gs, "")].map((letter) => {
    if ("[{".includes(letter)) depth++;
    else if ("]}".includes(letter)) depth--;
    return depth;
  });
  return Math.max(0, ...depths);
}

test.each(['"', '"\\', '["a\\"', "[[[[[[", "]]]]]]]]", '{"a":"[[[[[['])("%p is no JSON and does no harm", (text) => {
  expect(isNestedDeeper(text, 6)).toBe(false);
});

/** The number of objects, lists and strings, including keys. */
function valuesOf(value: unknown): number {
  if (typeof value === "string") return 1;
  if (typeof value !== "object" || value === null) return 0;
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return 1 + keys + Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 0);
}

test("counts objects, lists and texts, and a tenth of the rest", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      const least = valuesOf(value);
      const commas = json.replace(/"(?:[^"\\]|\\.)*"/gs, "").split(",").length - 1;
      const most = least + Math.floor(commas / 10);
      expect(jsonExcess(json, { levels: 1000, values: most })).toBeUndefined();
      if (most > 0 && json.length > most - 1)
        expect(jsonExcess(json, { levels: 1000, values: most - 1 })).toBe("values");
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["keys", `{${Array.from({ length: 200 }, (_, index) => `"k${index}":0`).join(",")}}`, "values"],
  ["objects", `[${"{},".repeat(100)}{}]`, "values"],
  ["texts", `[${'"",'.repeat(100)}""]`, "values"],
  ["tokens", `[${"1,".repeat(900)}1]`, undefined],
  ["many tokens", `[${"1,".repeat(1100)}1]`, "values"],
  ["one long text", JSON.stringify({ a: "[{,".repeat(1000) }), undefined],
])("a bound of 100 values: %s", (_, json, excess) => {
  expect(jsonExcess(json, { levels: 10, values: 100 })).toBe(excess as never);
});
