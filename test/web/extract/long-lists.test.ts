// Very long lists of hostile pages: the cost is linear in their length.

import { expect, test } from "bun:test";
import { validateNow } from "../../../src/web/extract/ajv.ts";
import { quotesIn } from "../../../src/web/extract/quotes.ts";
import { joinItems } from "../../../src/web/extract/same-item.ts";
import { cpuMs } from "../../support/real-time.ts";

test("thousands of entries of one name that contradict each other stay apart", () => {
  const items = Array.from({ length: 6000 }, (_, price) => ({ name: "Same", price }));
  expect(joinItems(items, () => undefined)).toHaveLength(6000);
  // Duplicates among them are still found.
  expect(joinItems([...items, ...items.slice(4000)], () => undefined)).toHaveLength(6000);
});

test.each<[string, (at: number) => Record<string, unknown>]>([
  ["entries of lists", (at) => ({ tags: [`t${at}`] })],
  ["members", (at) => ({ [`t${at}`]: at })],
])("one item that thousands of entries describe has all their %s", (_, partAt) => {
  const items = Array.from({ length: 4000 }, (_none, at) => ({ id: "a", in: partAt(at), ...partAt(at) }));
  const joined = joinItems(items, () => undefined);
  expect(joined).toHaveLength(1);
  expect(JSON.stringify(joined).match(/\bt\d+/g)).toHaveLength(8000);
  expect(cpuMs(() => joinItems(items, () => undefined))).toBeLessThan(1500);
});

test("thousands of quotes of a long page", () => {
  const lines = Array.from({ length: 5000 }, (_, n) => `- [Item ${n}](https://a.example/${n}) costs **${n}.50**`);
  const stands = quotesIn(lines.join("\n"));
  const quotes = Array.from({ length: 2000 }, (_, n) => `Item ${n} costs ${n}.50`);
  expect(quotes.filter(stands)).toHaveLength(2000);
  expect(stands("Item 1 costs 2.50")).toBe(false);
});

test("a schema that asks to be checked later is checked now", () => {
  const schema = { $async: true, type: "object", required: ["a"] };
  expect(validateNow({ schema, value: {} })).toEqual({
    complaints: [{ path: "", message: "must have required property 'a'" }],
  });
  const named = { type: "object", properties: { $async: { type: "string" } } };
  expect(validateNow({ schema: named, value: { $async: 1 } })).toEqual({
    complaints: [{ path: "/$async", message: "must be string" }],
  });
});
