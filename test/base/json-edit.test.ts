import { expect, test } from "bun:test";
import fc from "fast-check";
import { editJson, editValue, type JsonEdit } from "../../src/base/json-edit.ts";

const TEXT = '{ "a" : [ {"x": 1.0, "y":"\\u00e9,]"}, 12345678901234567890 , [ ] ],"b":{"c": {"d":1}}, "n": null }';

test.each<[string, JsonEdit[], string]>([
  ["nothing", [], TEXT],
  [
    "an element is taken out",
    [{ path: ["a", 1] }],
    '{ "a" : [{"x": 1.0, "y":"\\u00e9,]"},[ ]],"b":{"c": {"d":1}}, "n": null }',
  ],
  [
    "a member deep inside is set and another one is removed",
    [{ path: ["b", "c", "d"], value: [2] }, { path: ["a", 0, "y"] }],
    '{ "a" : [{"x": 1.0},12345678901234567890,[ ]],"b":{"c": {"d":[2]}}, "n": null }',
  ],
  [
    "a new member, and a path that leads nowhere",
    [{ path: ["b", "e"], value: 3 }, { path: ["no", "where"] }, { path: ["a", 9] }],
    '{ "a" : [{"x": 1.0, "y":"\\u00e9,]"},12345678901234567890,[ ]],"b":{"c": {"d":1},"e":3}, "n": null }',
  ],
])("a text is edited at the paths of its members: %s", (_name, edits, expected) => {
  expect(editJson(TEXT, edits)).toBe(expected);
});

test("the text and the value are edited alike", () => {
  const keys = fc.constantFrom("a", "b", '"', "\\");
  const lists = fc.array(fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 });
  const edits = fc.array(
    fc.record({ i: fc.nat(5), key: keys, value: fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }) }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(lists, edits, (list, raw) => {
      const made = raw
        .filter(({ i }) => i < list.length)
        .map(({ i, key, value }) => ({ path: ["m", i, ...(value === undefined ? [] : [key])], value }));
      const body = { k: 1, m: list };
      // Minus zero, which JSON.stringify does not keep, makes no difference.
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
      expect(JSON.parse(editJson(JSON.stringify(body), made))).toEqual(plain(editValue(body, made)));
    }),
  );
});
