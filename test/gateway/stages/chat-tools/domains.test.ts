// The domains to which a tool is limited.

import { expect, test } from "bun:test";
import { mayUse } from "../../../../src/gateway/stages/chat-tools/wishes.ts";

const INSIDE: [string, string][] = [
  ["https://a.example/x", "a.example"],
  ["https://a.example/x", "https://A.example/"],
  ["https://sub.a.example/x", "a.example"],
  ["https://a.example./x", "a.example"],
  ["https://a.example/Docs/x", "a.example/Docs"],
  ["https://münchen.example/", "münchen.example"],
];
const OUTSIDE: [string, string][] = [
  ["https://ba.example/", "a.example"],
  ["https://a.example/docs", "a.example/Docs"],
  ["https://a.example.b.example/", "a.example"],
  ["https://a.example/", "not a domain"],
];

test.each([...INSIDE.map((pair) => [...pair, true] as const), ...OUTSIDE.map((pair) => [...pair, false] as const)])(
  "%p within %p: %p",
  (url, entry, isWithin) => {
    expect(mayUse(url, { allowed: [entry], blocked: [] })).toBe(isWithin);
    expect(mayUse(url, { allowed: [], blocked: [entry] })).toBe(!isWithin);
  },
);
