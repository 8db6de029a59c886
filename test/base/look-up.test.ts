import { expect, test } from "bun:test";
import { lookUp } from "../../src/base/look-up.ts";

test.each<[string, number | undefined]>([
  ["a", 1],
  ["b", undefined],
  ["constructor", undefined],
  ["__proto__", undefined],
  ["hasOwnProperty", undefined],
])("%s is %p", (name, value) => {
  expect(lookUp<number | undefined>({ a: 1 }, name)).toBe(value);
});
