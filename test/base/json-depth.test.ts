import { expect, test } from "bun:test";
import fc from "fast-check";
import { isNestedDeeper } from "../../src/base/json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("tells how deep any JSON is nested, whatever its strings hold", () => {
  const text = fc.string({ unit: fc.constantFrom("[", "{", '"', "\\", "]", "}", "a") });
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "large" },
      text,
      fc.integer(),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(text, tie("node"), { maxKeys: 3 }),
    ),
  })).node;
  fc.assert(
    fc.property(value, fc.boolean(), (given, spaced) => {
      const json = JSON.stringify(given, undefined, spaced ? 1 : 0);
      const depth = depthOf(given);
      expect(isNestedDeeper(json, depth)).toBe(false);
      if (depth > 0) expect(isNestedDeeper(json, depth - 1)).toBe(true);
    }),
  );
});

test.each(['"', '"\\', '["a\\\\"', "[[[[[[", "]]]]]]]]", '{"a":"[[[[[['])("%p is no JSON and does no harm", (text) => {
  expect(isNestedDeeper(text, 6)).toBe(false);
});
