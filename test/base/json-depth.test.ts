import { expect, test } from "bun:test";
import fc from "fast-check";
import { isNestedDeeper } from "../../src/base/json-depth.ts";
import { jsonText } from "../support/json-text.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("tells how deep any JSON is nested, whatever its strings hold", () => {
  const wrapped = fc.tuple(jsonText, fc.nat(40), fc.boolean());
  fc.assert(
    fc.property(wrapped, ([inner, levels, lists]) => {
      const [open, close] = lists ? ["[", "]"] : ['{"[\\"":', "}"];
      const json = open.repeat(levels) + inner + close.repeat(levels);
      // Of a key that comes twice only the last value is in what is parsed: the text may be deeper, never less deep.
      const depth = depthOf(JSON.parse(json));
      const deepest = Math.max(depth, levels + depthOfText(inner));
      expect(isNestedDeeper(json, deepest)).toBe(false);
      if (deepest > 0) expect(isNestedDeeper(json, deepest - 1)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** The same told another way: by what is left when strings are gone. */
function depthOfText(json: string): number {
  let depth = 0;
  const depths = [...json.replace(/"(?:[^"\\]|\\.)*"/gs, "")].map((letter) => {
    if ("[{".includes(letter)) depth++;
    else if ("]}".includes(letter)) depth--;
    return depth;
  });
  return Math.max(0, ...depths);
}

test.each(['"', '"\\', '["a\\\\"', "[[[[[[", "]]]]]]]]", '{"a":"[[[[[['])("%p is no JSON and does no harm", (text) => {
  expect(isNestedDeeper(text, 6)).toBe(false);
});
