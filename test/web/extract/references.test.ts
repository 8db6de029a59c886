import { afterAll, expect, test } from "bun:test";
import { checkSchema } from "../../../src/web/extract/schema.ts";
import { HOSTILE, many } from "./hostile-schemas.ts";
import type { SchemaCost } from "./hostile-schemas-worker.ts";

/** The longest step that a check may take. */
const STEP_MS_MAX = 50;
/** The memory that an index may hold for each byte of its schema. */
const BYTES_PER_BYTE_MAX = 100;

const worker = new Worker(new URL("./hostile-schemas-worker.ts", import.meta.url).href);
afterAll(() => worker.terminate());

function costOf(at: number): Promise<SchemaCost | string> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<SchemaCost | string>) => resolve(data);
    worker.onerror = reject;
    worker.postMessage(at);
  });
}

test.each(HOSTILE.map(([name, schema], at) => [name, schema, at] as const))(
  "checks %s without a long step, in memory of the schema's size",
  async (_name, schema, at) => {
    const { length } = JSON.stringify(schema);
    expect(length).toBeLessThan(64 * 1024);
    const cost = await costOf(at);
    if (typeof cost === "string") throw new Error(cost);
    expect(cost.longestMs).toBeLessThan(STEP_MS_MAX);
    expect(cost.heldBytes).toBeLessThan(length * BYTES_PER_BYTE_MAX);
  },
);

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
