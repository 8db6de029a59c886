// The name of an answer: one for equal requests of one holder, however they are written, and never one for two holders.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { cacheKey, canonicalJson } from "../../../../src/gateway/stages/cache/cache-key.ts";

const members = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
const parts = fc.record({
  holder: fc.constantFrom<string[]>("account-1", "account-2", "key-1"),
  path: fc.constantFrom("/v1/chat/completions", "/v1/messages"),
  model: fc.constantFrom("m", "n"),
  betas: fc.constantFrom("", "beta"),
  content: members,
});
type Parts = typeof parts extends fc.Arbitrary<infer P> ? P : never;

const nameOf = ({ content, ...rest }: Parts, text = JSON.stringify(content)) =>
  cacheKey({ ...rest, content, text, messages: [] });

/** The same value with its members in the opposite order, at every depth. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, one]) => [name, reversed(one)]),
  );
}

const RUNS = { numRuns: 300 };

test("equal requests have one name, in whatever order and with whatever white space they are written", () => {
  const isSame = (one: Parts) => {
    const content = reversed(one.content) as Parts["content"];
    expect(nameOf({ ...one, content }, JSON.stringify(content, undefined, 3))).toBe(nameOf(one));
  };
  fc.assert(fc.property(parts, isSame), RUNS);
});

/** Members that do not count, beside which nothing may be equal by chance. */
const FREE = [
  "model",
  "stream",
  "stream_options",
  "user",
  "metadata",
  "store",
  "prompt_cache_key",
  "safety_identifier",
];
const counted = (content: object) =>
  canonicalJson(Object.fromEntries(Object.entries(content).filter(([name]) => !FREE.includes(name))));

test("requests of two holders, to two endpoints or models, or with other content never have one name", () => {
  const differ = (one: Parts, other: Parts) => {
    const { content, ...rest } = one;
    const { content: others, ...othersRest } = other;
    const isEqual = JSON.stringify(rest) === JSON.stringify(othersRest) && counted(content) === counted(others);
    if (!isEqual) expect(nameOf(one)).not.toBe(nameOf(other));
  };
  fc.assert(fc.property(parts, parts, differ), RUNS);
  // With all else equal.
  const ofOthers = (one: Parts) => expect(nameOf({ ...one, holder: `${one.holder}2` })).not.toBe(nameOf(one));
  fc.assert(fc.property(parts, ofOthers), RUNS);
});

test.each([
  ['{"b":1,"a":[{"d":2,"c":3}]}', '{"a":[{"c":3,"d":2}],"b":1}'],
  ['{"\\u20ac":1,"\\r":2,"1":3,"\\ud83d\\ude00":4,"\\ufb33":5}', '{"\\r":2,"1":3,"€":1,"😀":4,"\ufb33":5}'],
  ["[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]", "[333333333.3333333,1e+30,4.5,0.002,1e-27]"],
  ['"\\u000f\\nA\'B\\"\\\\\\/"', '"\\u000f\\nA\'B\\"\\\\/"'],
])("values are written as RFC 8785 says: %s", (text, canonical) => {
  expect(canonicalJson(JSON.parse(text))).toBe(canonical);
});
