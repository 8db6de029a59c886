import { expect, test } from "bun:test";
import { createSchemaTest } from "../../src/base/schema-test.ts";

test("patterns and formats of a schema are held, in time that grows with the text", () => {
  const fits = createSchemaTest({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: { a: { pattern: "^(x+)+$" }, b: { pattern: "^y$" }, c: { format: "email" } },
    additionalProperties: false,
  });
  expect(fits({ a: "xx", b: "y", c: "ada@example.com" })).toBe(true);
  const wrong = [{ a: `${"x".repeat(20_000)}!` }, { b: "x" }, { c: "ada" }, { d: 1 }];
  expect(wrong.filter((value) => fits(value))).toEqual([]);
});

test.each([{ pattern: "(a)\\1" }, { type: "magic" }, { $ref: "#/$defs/none" }])(
  "a schema that cannot be used: %j",
  (schema) => {
    expect(() => createSchemaTest(schema)).toThrow();
  },
);
