import { expect, test } from "bun:test";
import fc from "fast-check";
import { mergeAnswers } from "../../../src/web/extract/merge.ts";

const [ONE, TWO, THREE] = ["https://example.com/1", "https://example.com/2", "https://example.com/3"] as const;
const of = (url: string, value: unknown, sources = {}) => ({ url, value, sources });
const merged = (...values: unknown[]) =>
  mergeAnswers(
    undefined,
    values.map((value, at) => of(`https://example.com/${at + 1}`, value)),
  ).value;

test("the value of most pages wins, then the order of the addresses", () => {
  const sources = (quote: string) => ({ price: [{ url: "u", quote }] });
  const {
    value,
    warnings,
    sources: kept,
  } = mergeAnswers(undefined, [
    of(ONE, { price: 5, name: "A", note: null }, sources("5")),
    of(TWO, { price: 7, name: "B", note: "n" }, sources("7")),
    of(THREE, { price: 7, name: " a ", more: true }, sources("7.00")),
  ]);
  expect(value).toEqual({ price: 7, name: "A", note: "n", more: true });
  expect(kept).toEqual({
    price: [
      { url: "u", quote: "7" },
      { url: "u", quote: "7.00" },
    ],
  });
  expect(warnings).toEqual([
    `price: 7 from ${TWO} was kept; ${ONE} says 5.`,
    `name: "A" from ${ONE} was kept; ${TWO} says "B".`,
  ]);
});

test("all parts of one page count as one page", () => {
  const { value } = mergeAnswers(undefined, [
    of(ONE, { a: 1 }),
    of(TWO, { a: 2 }),
    of(TWO, { a: 2 }),
    of(THREE, { a: 1 }),
  ]);
  expect(value).toEqual({ a: 1 });
});

test.each<[string, unknown[], unknown]>([
  [
    "texts",
    [
      ["a", "b"],
      ["B ", "c"],
    ],
    ["a", "b", "c"],
  ],
  [
    "by identifier",
    [[{ sku: "1", name: "A" }], [{ sku: "1", price: 5 }, { sku: "2" }]],
    [{ sku: "1", name: "A", price: 5 }, { sku: "2" }],
  ],
  ["by address", [[{ url: "/a", name: "A" }], [{ url: "/a", price: 5 }]], [{ url: "/a", name: "A", price: 5 }]],
  [
    "an address that several share",
    [[{ email: "jobs@example.com", title: "Cook" }], [{ email: "jobs@example.com", title: "Waiter" }]],
    [
      { email: "jobs@example.com", title: "Cook" },
      { email: "jobs@example.com", title: "Waiter" },
    ],
  ],
  [
    "by name",
    [[{ name: "A", price: 5 }], [{ name: "a", price: 5, colour: "red" }]],
    [{ name: "A", price: 5, colour: "red" }],
  ],
  [
    "the same name on two days",
    [[{ name: "Concert", date: "2026-01-01" }], [{ name: "Concert", date: "2026-01-02" }]],
    [
      { name: "Concert", date: "2026-01-01" },
      { name: "Concert", date: "2026-01-02" },
    ],
  ],
  [
    "what is equal but for its order and empty members",
    [[{ a: 1, b: [2], c: null }], [{ b: [2], a: 1 }]],
    [{ a: 1, b: [2], c: null }],
  ],
  ["through a third", [[{ id: 1 }, { name: "A" }], [{ id: 1, name: "A" }]], [{ id: 1, name: "A" }]],
  ["one list alone, as it is", [[1, 1, null], null], [1, 1, null]],
  ["nested lists", [[{ id: 1, tags: ["a"] }], [{ id: 1, tags: ["a", "b"] }]], [{ id: 1, tags: ["a", "b"] }]],
])("lists are united: %s", (_name, values, expected) => {
  expect(merged(...values)).toEqual(expected as never);
  expect(merged(...values.map((list) => ({ deep: { list } })))).toEqual({ deep: { list: expected } });
});

test("a contradiction within an entry is reported", () => {
  const { warnings } = mergeAnswers(undefined, [
    of(ONE, { items: [{ id: 1, price: 5 }] }),
    of(TWO, { items: [{ id: 1, price: 6 }] }),
  ]);
  expect(warnings).toEqual(["items[].price: 5 was kept; another page has 6."]);
});

test("no more entries than the schema allows", () => {
  const schema = { $ref: "#/$defs/a", $defs: { a: { properties: { list: { maxItems: 2 } } } } };
  const { value, warnings } = mergeAnswers(schema, [of(ONE, { list: [1, 2] }), of(TWO, { list: [3] })]);
  expect(value).toEqual({ list: [1, 2] });
  expect(warnings).toEqual(["list: the first 2 of 3 entries were kept, because the schema allows no more."]);
});

test("answers of different kinds: the first page's, and a warning", () => {
  const { value, warnings } = mergeAnswers(undefined, [of(ONE, { a: ["x"] }), of(TWO, { a: "x" })]);
  expect(value).toEqual({ a: ["x"] });
  expect(warnings).toHaveLength(1);
});

test("nothing at all is null", () => {
  expect(mergeAnswers(undefined, [])).toEqual({ value: null, sources: {}, warnings: [] });
  expect(merged({ a: null }, null)).toEqual({ a: null });
});

const name = fc.constantFrom("id", "name", "url", "price", "tags");
const plain = fc.constantFrom<unknown>("a", "A ", "b", 1, 2, true, null);
const entry = fc.dictionary(name, fc.oneof(plain, fc.array(plain, { maxLength: 3 })), { maxKeys: 4 });
const answer = fc.dictionary(name, fc.oneof(plain, fc.array(fc.oneof(plain, entry), { maxLength: 4 }), entry), {
  maxKeys: 4,
});

test("merging a merged result again changes nothing", () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), (answers) => {
      const once = merged(...answers);
      expect(merged(once)).toEqual(once as never);
      expect(merged(once, once)).toEqual(once as never);
    }),
  );
});

test("no text or number of a list is lost", () => {
  fc.assert(
    fc.property(fc.array(fc.array(plain, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), (lists) => {
      const said = (value: unknown) => JSON.stringify(typeof value === "string" ? value.trim().toLowerCase() : value);
      const united = new Set(((merged(...lists) ?? []) as unknown[]).map(said));
      for (const value of lists.flat()) if (value !== null) expect(united).toContain(said(value));
    }),
  );
});
