// Rate limits that engines state in addition to failing.

import { afterEach, expect, test } from "bun:test";
import { bread, nobody, pages, startToys, type Toys, toyEngine } from "./toy-engines.ts";

let toys: Toys;
afterEach(() => toys.stop());

const hits = async () => (await pages("a", 5).json()) as unknown[];
const search = (text: string) => toys.search.search(bread({ text }), nobody());

test("an engine that answers and asks for a pause is not called for that time", async () => {
  const polite = { kind: "hits", hits: await hits(), backOffMs: 10_000 };
  toys = startToys({ a: () => Response.json(polite), b: () => pages("b", 5) });
  expect((await search("bread")).unresponsive).toEqual([]);
  expect((await search("bread rolls")).unresponsive).toEqual([{ name: "a", reason: "suspended: rate_limited" }]);
  toys.clock.advance(10_000);
  await search("bread flour");
  expect(toys.asked("a")).toHaveLength(2);
});

test("a key with a higher rate is used at that rate", async () => {
  const facts = {
    requestRate: { requests: 1, perMs: 86_400_000 },
    optionalKey: { looksLike: "a key", requestRate: { requests: 2, perMs: 86_400_000 } },
  };
  const engines = [toyEngine("with", facts), toyEngine("without", facts), toyEngine("other")];
  const keys = { with: { baseUrl: undefined, apiKey: "k" }, without: { baseUrl: undefined } };
  const ways = { with: () => pages("with", 5), without: () => pages("without", 5), other: () => pages("other", 5) };
  toys = startToys(ways, { engines, search: { engines: { ...keys, other: { baseUrl: undefined } } }, isOpen: true });
  for (const text of ["bread", "bread rolls", "bread flour"]) await search(text);
  expect(["with", "without", "other"].map((name) => toys.asked(name).length)).toEqual([2, 1, 3]);
});
