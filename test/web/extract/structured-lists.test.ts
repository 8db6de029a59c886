import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { validateNow } from "../../../src/web/extract/ajv.ts";
import { evidenceText } from "../../../src/web/extract/evidence.ts";
import { answerFromStructured } from "../../../src/web/extract/from-structured.ts";
import { quoteStands } from "../../../src/web/extract/quotes.ts";
import { ld, number, object, PRODUCT, page, text, URL } from "./described.ts";

describe("a list at the root", () => {
  const schema = { type: "array", items: object({ name: text, price: number }) };
  const list = (items: unknown[]) =>
    ld({ "@type": "ItemList", itemListElement: items.map((item) => ({ "@type": "ListItem", item })) });

  test("of a list of things", () => {
    const { value, sources, missing } = answerFromStructured(schema, [
      page(list([PRODUCT, { ...PRODUCT, name: "B" }])),
    ]);
    expect(value).toEqual([
      { name: "Blue Kettle", price: 19.9 },
      { name: "B", price: 19.9 },
    ]);
    expect([sources, missing]).toEqual([{}, []]);
  });

  test("is missing if an entry is only an address, if there are two lists, or if the items are of several kinds", () => {
    const missingOf = (html: string) => answerFromStructured(schema, [page(html)]).missing;
    expect(missingOf(list([{ url: "/a" }]))).toEqual(["[]"]);
    expect(missingOf(list([PRODUCT]) + list([PRODUCT]))).toEqual(["[]"]);
    expect(missingOf(ld(PRODUCT, { "@type": "Event", name: "A", offers: { price: 1 } }))).toEqual(["[]"]);
    expect(missingOf(ld(PRODUCT))).toEqual(["[]"]);
    expect(missingOf(list([{ name: "A" }]))).toEqual(["[].price"]);
  });
});

test("several pages: single values from any, lists only when each page gives one", () => {
  const schema = object({ sku: text, products: { type: "array", items: object({ name: text }) } });
  const pages = [page(ld(PRODUCT)), page(ld({ ...PRODUCT, name: "B", sku: "K-2" }), `${URL}/2`)];
  const both = answerFromStructured(schema, pages);
  expect(both).toMatchObject({
    value: { sku: "K-1", products: [{ name: "Blue Kettle" }, { name: "B" }] },
    missing: [],
  });
  expect(both.warnings).toHaveLength(1);
  const one = answerFromStructured(schema, [...pages, page("<p>Text</p>", `${URL}/3`)]);
  expect(one.missing).toEqual(["products"]);
});

test("items that refer to each other are left to a model if the chain is too long", () => {
  const many = Array.from({ length: 20 }, (_, at) => ({ "@id": `#${(at * 7) % 50}` }));
  const graph = Array.from({ length: 50 }, (_, at) => ({
    "@id": `#${at}`,
    "@type": "Product",
    review: many,
    item: many,
  }));
  const list = { type: "array", items: { $ref: "#" } };
  const schema = object({ reviews: list, items: list, name: text });
  expect(answerFromStructured(schema, [page(ld({ "@graph": graph }, PRODUCT))])).toMatchObject({
    value: { reviews: null, items: null, name: null },
    missing: ["reviews", "items", "name"],
  });
});

test("a schema without fields cannot be filled", () => {
  for (const schema of [{}, { type: "object" }, { type: "string" }])
    expect(answerFromStructured(schema, [page(ld(PRODUCT))])).toMatchObject({ value: null, missing: ["*"] });
});

test("whatever a page describes, the result fits the schema and its quotes are in the page", () => {
  const names = fc.constantFrom(
    "name",
    "price",
    "offers",
    "brand",
    "image",
    "author",
    "startDate",
    "@type",
    "@id",
    "url",
    "review",
    "mainEntity",
    "itemListElement",
  );
  const leaves = fc.constantFrom<unknown>(
    "A",
    "19.90",
    "1,299",
    5,
    true,
    null,
    "2026-05-01",
    "Product",
    "ItemList",
    "#a",
    "https://schema.org/InStock",
    'Tom "T" O’Neil & co',
  );
  const { value: thing } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaves,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(names, tie("value"), { maxKeys: 5 }),
    ),
  }));
  const schema = object({
    name: text,
    price: number,
    brand: object({ name: text }, { required: ["name"] }),
    authors: { type: "array", items: text },
    reviews: { type: "array", items: { $ref: "#" } },
    date: { type: "string", format: "date" },
    in_stock: { type: "boolean" },
  });
  fc.assert(
    fc.property(fc.array(thing, { maxLength: 3 }), (things) => {
      const read = page(ld(...things));
      const { value, sources } = answerFromStructured(schema, [read]);
      const found = Object.fromEntries(Object.entries((value ?? {}) as object).filter(([, one]) => one !== null));
      expect(validateNow({ schema, value: found })).toEqual({ complaints: [] });
      const evidence = evidenceText(read.structured);
      for (const { quote } of Object.values(sources).flat())
        if (/[\p{L}\p{N}]/u.test(quote)) expect(quoteStands(evidence, quote)).toBe(true);
    }),
  );
});

test("the data for the model is shortened by whole lines, those about the site first", () => {
  const { structured } = page(
    `${ld({ "@type": "WebSite", name: "Site" }, { "@type": "Product", name: "A" })}<meta name="author" content="Ann">`,
  );
  expect(evidenceText(structured)).toBe(
    'JSON-LD: {"@type":"Product","name":"A"}\nMetadata: {"author":"Ann"}\nJSON-LD: {"@type":"WebSite","name":"Site"}',
  );
  expect(evidenceText(structured, 70)).toBe('JSON-LD: {"@type":"Product","name":"A"}\nMetadata: {"author":"Ann"}');
  expect(evidenceText(page("").structured)).toBe("");
});
