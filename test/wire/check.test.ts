// What the checks of wire bodies say of a value outside of its bounds.

import { expect, test } from "bun:test";
import { type Check, expectInteger, expectNumber } from "../../src/wire/check.ts";

test.each<[string, Check<number>, number, string]>([
  ["below the only bound", expectNumber(0), -1, "must be at least 0, got -1"],
  ["above the only bound", expectNumber(undefined, 2), 3, "must be at most 2, got 3"],
  ["above both bounds", expectNumber(0, 2), 2.5, "must be from 0 to 2, got 2.5"],
  ["below a whole number that has no upper limit", expectInteger(1), 0, "must be at least 1, got 0"],
  ["above all whole numbers", expectInteger(1), 2 ** 60, "must be from 1 to 9007199254740991"],
])("a number %s", (_name, check, value, says) => {
  expect(() => check(value, "n")).toThrow(`Invalid 'n': ${says}`);
});
