// The lines of keys in YAML, compared with the parser's result for the same text.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { linesOf, type Path } from "../../src/config/yaml-lines.ts";

/** Every path in a value. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([step, child]) => placesOf(child, [...path, step]))];
}

test.each<readonly [text: string, lines: Readonly<Record<string, number>>]>([
  ["a: 1\nb:\n  c: 2\n  d:\n    e: 3\n", { a: 1, b: 2, "b.c": 3, "b.d": 4, "b.d.e": 5 }],
  ["a:\n- x\n- y\nb: 1\n", { a: 1, "a.0": 2, "a.1": 3, b: 4 }],
  ["a:\n  - id: x\n    t: 1\n  - id: y\n", { "a.0": 2, "a.0.id": 2, "a.0.t": 3, "a.1.id": 4 }],
  ["a:\n  - r:\n      - p: 1\n        q: 2\n      - p: 3\n", { "a.0.r.0.q": 4, "a.0.r.1.p": 5 }],
  ["a: { b: 1, c: [x,\n  y], d: { e: 2 } }\nf: 1\n", { "a.b": 1, "a.c.0": 1, "a.c.1": 1, "a.d.e": 2, f: 3 }],
  ['a:\n  # b: 9\n  \'b\': "x: y # z"\n\n  "c": 1 # d: 2\n', { "a.b": 3, "a.c": 5 }],
  ["a: |\n  b: 1\n  c: 2\nd: >-\n  e\nf: 1\n", { a: 1, d: 4, f: 6 }],
  ['a: "one\n  b: 2"\nc: 3\n', { a: 1, c: 3 }],
  ['{\n  "a": {\n    "b": [1,\n      { "c": 2 }]\n  },\n  "d": 1\n}', { a: 2, "a.b": 3, "a.b.1.c": 4, d: 6 }],
  ["a: &x\n  b: 1\nc: *x\n", { "a.b": 2, "c.b": 3 }],
  ["---\na: http://x:1/y\nb: 'it''s'\n", { a: 2, b: 3 }],
])("the line of each key is found: %j", (text, lines) => {
  const lineOf = linesOf(text);
  const found = Object.keys(lines).map((key) => [
    key,
    lineOf(key.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step))),
  ]);
  expect(Object.fromEntries(found)).toEqual(lines);
});

test("every place of a document is found on a line that holds its key", () => {
  const name = fc.stringMatching(/^[a-z][a-z_]{0,6}$/);
  const text = fc.oneof(fc.integer().map(String), name, fc.constantFrom("a: b", "#x", "'", "{", "- x", "x, y"));
  const { value } = fc.letrec((tie) => ({
    value: fc.dictionary(name, tie("any"), { maxKeys: 4, minKeys: 1 }),
    any: fc.oneof({ maxDepth: 3 }, text, fc.array(tie("any"), { maxLength: 3 }), tie("value")),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom<undefined | number>(undefined, 2), (document, indent) => {
      for (const written of [Bun.YAML.stringify(document, null, indent), JSON.stringify(document, null, indent)]) {
        expect(Bun.YAML.parse(written)).toEqual(document);
        const lines = written.split("\n");
        const lineOf = linesOf(written);
        for (const path of placesOf(document)) {
          const step = path.at(-1);
          if (typeof step !== "string") continue;
          expect(`${lines[(lineOf(path) ?? 0) - 1]}`).toContain(step);
        }
      }
    }),
  );
});
