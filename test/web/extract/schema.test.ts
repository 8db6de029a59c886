import { expect, test } from "bun:test";
import { checkSchema, draftOf } from "../../../src/web/extract/schema.ts";
import { SchemaError } from "../../../src/web/extract/schema-error.ts";

/** The path at which a schema is refused, or undefined if it is accepted. */
function placeOf(schema: unknown): string | undefined {
  try {
    checkSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaError) return error.place;
    throw error;
  }
}

const levels = (count: number): object =>
  count === 1 ? { type: "string" } : { type: "object", properties: { a: levels(count - 1) } };

test.each<[string, unknown]>([
  ["an empty one", {}],
  ["32 levels", levels(32)],
  ["keywords that are not known", { type: "object", title: "A", "x-order": [1], example: 5 }],
  ["a reference to a definition", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
  ["a reference to the older place", { $ref: "#/definitions/a%20b~1c", definitions: { "a b/c": true } }],
  ["a reference to an anchor", { $ref: "#x", $defs: { a: { $anchor: "x" } } }],
  ["a reference to an older anchor", { items: [{ $ref: "#x" }], definitions: { a: { $id: "#x" } } }],
  [
    "a reference to its own address",
    { $id: "https://example.com/s", properties: { a: { $ref: "https://example.com/s" } } },
  ],
  [
    "a reference to a part with an address",
    {
      $id: "https://example.com/s",
      properties: { a: { $ref: "b#/$defs/c" } },
      $defs: { b: { $id: "b", $defs: { c: {} } } },
    },
  ],
  ["a schema that holds itself", { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } }],
  [
    "a schema under a keyword that is not known",
    { $ref: "#/components/schemas/a", components: { schemas: { a: {} } } },
  ],
  ["members called like keywords", { properties: { $ref: { type: "string" }, type: {}, items: { items: false } } }],
  ["a pattern that is none for Unicode", { pattern: "^[\\w-.]+$" }],
  ["draft 7 by name", { $schema: "http://json-schema.org/draft-07/schema#" }],
])("takes %s", (_name, schema) => {
  expect(placeOf(schema)).toBeUndefined();
  expect(checkSchema(schema)).toBe(schema as never);
});

test.each<[string, unknown, string]>([
  ["a list", [], ""],
  ["null", null, ""],
  ["a text", "{}", ""],
  ["33 levels", levels(33), "/properties/a".repeat(32)],
  ["a constant that is nested too deep", { const: JSON.parse("[".repeat(200) + "]".repeat(200)) }, ""],
  ["more than 64 KiB", { description: "ä".repeat(33 * 1024) }, ""],
  ["a type that is none", { properties: { a: { type: "text" } } }, "/properties/a/type"],
  ["no type", { type: [] }, "/type"],
  ["properties that are a list", { properties: [] }, "/properties"],
  ["a property that is no schema", { properties: { "a/b": 5 } }, "/properties/a~1b"],
  ["required that is no list", { required: "a" }, "/required"],
  ["an empty enum", { items: { enum: [] } }, "/items/enum"],
  ["a bound in a text", { minimum: "5" }, "/minimum"],
  ["a step of zero", { multipleOf: 0 }, "/multipleOf"],
  ["a length below zero", { items: [{}, { minLength: -1 }] }, "/items/1/minLength"],
  ["alternatives that are none", { anyOf: {} }, "/anyOf"],
  ["an expression that is none", { pattern: "(" }, "/pattern"],
  ["a name that is no expression", { patternProperties: { "[": {} } }, "/patternProperties"],
  ["a remote reference", { properties: { a: { $ref: "https://example.com/s" } } }, "/properties/a/$ref"],
  ["a file", { $ref: "file:///etc/passwd" }, "/$ref"],
  ["a reference beside its own address", { $id: "https://example.com/s", $ref: "other" }, "/$ref"],
  ["a reference that leads nowhere", { $ref: "#/$defs/a" }, "/$ref"],
  ["a reference that is no text", { $ref: 5 }, "/$ref"],
  ["a reference to what is no schema", { $ref: "#/x", x: { type: "text" } }, "/$ref/type"],
  ["a circle", { $ref: "#" }, ""],
  ["a longer circle", { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { not: { $ref: "#" } } } }, ""],
  ["another draft", { $schema: "http://json-schema.org/draft-04/schema#" }, "/$schema"],
])("refuses %s and names the place", (_name, schema, place) => {
  expect(placeOf(schema)).toBe(place);
});

test("a long chain of references is followed once", () => {
  const count = 1500;
  const $defs = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`a${at}`, at === 0 ? {} : { allOf: [{ $ref: `#/$defs/a${at - 1}` }] }]),
  );
  expect(placeOf({ $ref: `#/$defs/a${count - 1}`, $defs })).toBeUndefined();
});

test("a list of items is draft 7, without it the newer draft is meant", () => {
  expect(draftOf({ items: [{}] })).toBe("draft-07");
  expect(draftOf({ items: {} })).toBe("2020-12");
  expect(draftOf({ $schema: "https://json-schema.org/draft/2020-12/schema" })).toBe("2020-12");
});
