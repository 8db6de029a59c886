import { expect, test } from "bun:test";
import { fieldNames } from "../../../src/web/extract/fields.ts";
import { checkSchema } from "../../../src/web/extract/schema.ts";
import { SchemaError } from "../../../src/web/extract/schema-error.ts";
import { longestStep } from "../../support/steps.ts";

/** The longest step that a check may take. */
const STEP_MS_MAX = 50;
/** The memory that an index may hold for each byte of its schema. */
const BYTES_PER_BYTE_MAX = 100;

const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));

/** A chain of schemas, each with an address relative to that of the previous one. */
function nested(depth: number, id: string, inner: object): object {
  let schema = inner;
  for (let at = 0; at < depth; at++) schema = { $id: id, "x-inner": schema };
  return schema;
}

const withX = (rest: object) => ({ $ref: "#/$defs/x", $defs: { x: { type: "object", properties: rest } } });

const HOSTILE: readonly (readonly [string, object])[] = [
  [
    "a long address above many",
    { $id: `${"é".repeat(16_000)}/`, ...withX({ a: { anyOf: many(2000, () => ({ $id: "b" })) } }) },
  ],
  [
    "a long address above many references",
    { $id: `${"é".repeat(900)}/`, ...withX({ a: { anyOf: many(2000, (at) => ({ $ref: `b${at}` })) } }) },
  ],
  [
    "the longest allowed address above many",
    { $id: `${"é".repeat(999)}/`, ...withX({ a: { anyOf: many(3000, (at) => ({ $id: `b${at}` })) } }) },
  ],
  [
    "many addresses under a keyword that is not known",
    { "x-a": { $id: `${"é".repeat(16_000)}/`, b: many(2000, () => ({ $id: "b" })) } },
  ],
  ["addresses that grow", nested(100, `${"é".repeat(150)}/`, { anyOf: many(1000, () => ({ $id: "b" })) })],
  [
    "many anchors of a long address",
    { $id: `${"é".repeat(999)}/`, ...withX({ a: { anyOf: many(2000, (at) => ({ $anchor: `b${at}` })) } }) },
  ],
  ["long pointers", { ...withX({ a: { anyOf: many(60, () => ({ $ref: `#/$defs/x${"/%20".repeat(240)}` })) } }) }],
  ["a long reference", { $ref: `#/${"a/".repeat(30_000)}` }],
  [
    "references in a row",
    {
      $ref: "#/$defs/a0",
      $defs: Object.fromEntries(many(1800, (at) => [`a${at}`, at < 1799 ? { $ref: `#/$defs/a${at + 1}` } : {}])),
    },
  ],
];

test.each(HOSTILE)("checks %s without a long step, in memory of the schema's size", async (_name, schema) => {
  const text = JSON.stringify(schema);
  expect(text.length).toBeLessThan(64 * 1024);
  const copies = many(10, () => JSON.parse(text) as object);
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  let longestMs = Number.POSITIVE_INFINITY;
  for (const copy of copies) {
    const step = await longestStep(() => {
      try {
        fieldNames(checkSchema(copy));
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaError);
      }
    });
    longestMs = Math.min(longestMs, step.longestMs);
  }
  expect(longestMs).toBeLessThan(STEP_MS_MAX);
  Bun.gc(true);
  expect((process.memoryUsage().heapUsed - before) / copies.length).toBeLessThan(text.length * BYTES_PER_BYTE_MAX);
});

test.each([
  ["/$id", { $id: "a".repeat(1001) }],
  ["/$defs/a~1b/$ref", { $defs: { "a/b": { $ref: `#/${"a".repeat(1000)}` } } }],
  ["/allOf/1/$anchor", { allOf: [{}, { $anchor: "a".repeat(1001) }] }],
  ["/x-a/$dynamicRef", { "x-a": { $dynamicRef: "a".repeat(1001) } }],
])("names the place of an address that is too long: %s", (place, schema) => {
  expect(() => checkSchema(schema)).toThrow(
    expect.objectContaining({ place, message: expect.stringContaining("at most 1000 characters") }),
  );
});

test("a member called like a keyword is no address", () => {
  expect(
    checkSchema({ type: "object", properties: { $id: { type: "string", default: "a".repeat(2000) } } }),
  ).toBeDefined();
});

test("all addresses of a real schema fit", () => {
  const id = "https://schemas.example.com/products/catalogue/2026/item.schema.json";
  const refs = many(400, (at) => [`field${at}`, { $ref: `${id}#/$defs/price` }]);
  expect(
    checkSchema({ $id: id, properties: Object.fromEntries(refs), $defs: { price: { type: "number" } } }),
  ).toBeDefined();
});
