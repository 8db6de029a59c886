import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import fc from "fast-check";
import { sampleOf } from "../../src/upstream/providers/demo-sample.ts";
import { garbled } from "../support/garbled.ts";

const ajv = new Ajv({ strict: false, validateFormats: false, logger: false, ownProperties: true });

const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => {
  const bounds = fc.record(
    {
      minimum: fc.integer({ min: -9, max: 9 }),
      exclusiveMinimum: fc.integer({ min: -9, max: 9 }),
      multipleOf: fc.integer({ min: 1, max: 5 }),
    },
    { requiredKeys: [] },
  );
  const name = fc.constantFrom("a", "b", "__proto__", "constructor", "toString", "");
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(
        {},
        { type: "boolean" },
        { type: "null" },
        { const: 3 },
        { enum: ["x", null] },
        { type: ["string", "null"] },
      ),
      fc.record(
        {
          type: fc.constant("string"),
          minLength: fc.nat(60),
          maxLength: fc.integer({ min: 60, max: 70 }),
          format: name,
        },
        { requiredKeys: ["type"] },
      ),
      bounds.chain((given) => fc.constantFrom("integer", "number").map((type) => ({ type, ...given }))),
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(4) }, { requiredKeys: ["type"] }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc
        .record({
          type: fc.constant("object"),
          required: fc.uniqueArray(name),
          members: fc.array(fc.tuple(name, tie("schema"))),
        })
        .map(({ members, ...rest }) => ({ ...rest, properties: Object.fromEntries(members) })),
    ),
  };
});

describe("a sample", () => {
  test("is accepted by its schema", () => {
    fc.assert(
      fc.property(schema, (given) => {
        // The sample as it is sent: JSON leaves out undefined values and functions.
        const sample = JSON.parse(JSON.stringify({ value: sampleOf(given) })).value;
        expect([JSON.stringify(sample), ajv.validate(given, sample)]).toEqual([JSON.stringify(sample), true]);
      }),
      { numRuns: 200 },
    );
  });

  test("is created even for an invalid schema", () => {
    fc.assert(
      fc.property(garbled(schema), (given) => {
        sampleOf(given);
      }),
      { numRuns: 200 },
    );
  });

  const loop = { anyOf: [{ $ref: "#" }] };
  test.each<[string, unknown]>([
    ["itself", loop],
    ["itself by allOf", { allOf: [{ $ref: "#" }, null] }],
    ["a reference to nothing", { $ref: "#/definitions/x" }],
    [
      "many of itself",
      {
        type: "object",
        required: [..."abcdefghijklmnop"],
        properties: Object.fromEntries([..."abcdefghijklmnop"].map((name) => [name, { $ref: "#" }])),
      },
    ],
    ["a list of itself", { type: "array", minItems: 2, items: { $ref: "#" } }],
  ])("of %s ends", (_name, given) => expect(JSON.stringify(sampleOf(given)).length).toBeGreaterThan(1));
});
