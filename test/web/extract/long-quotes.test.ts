// A quote is checked as a whole, however little of it is shown.

import { expect, test } from "bun:test";
import { checkedPart } from "../../../src/web/extract/check-part.ts";
import { readReply } from "../../../src/web/extract/reply.ts";

const SCHEMA = { type: "object", properties: { price: { type: "number" } } };
const words = Array.from({ length: 500 }, (_, index) => `word${index}`).join(" ");
const text = `${words} The price is 12 euros.`;

test.each([
  ["stands in the page", text, 12, 2000],
  ["has an invented end", `${words} The price is 99 euros.`, null, undefined],
  ["is longer than any quote", text.repeat(20), null, undefined],
])("a long quote that %s", (_name, quote, price, shown) => {
  const reply = readReply(JSON.stringify({ value: { price: price ?? 99 }, quotes: { price: quote } }), SCHEMA);
  if (typeof reply === "string") throw new Error(reply);
  const part = { url: "https://a.example/", text, evidence: "" };
  const { value, sources } = checkedPart({ part, reply, warnings: [] } as unknown as Parameters<typeof checkedPart>[0]);
  expect((value as { price: number | null }).price).toBe(price);
  expect(sources["price"]?.[0]?.quote.length).toBe(shown as never);
});
