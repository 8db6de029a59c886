import { describe, expect, test } from "bun:test";
import { parseDurationMs, parseSizeBytes } from "../../src/base/quantity.ts";

describe("durations", () => {
  test.each([
    ["500ms", 500],
    ["15s", 15_000],
    ["1.5s", 1500],
    ["10m", 600_000],
    ["24h", 86_400_000],
    ["30d", 2_592_000_000],
    ["0s", 0],
  ])("%s", (text, ms) => expect(parseDurationMs(text)).toBe(ms));
  test.each(["", "15", "s", "-1s", "1 s", "1w", "1e3s", "99999999999999d"])("refuses %p", (text) =>
    expect(parseDurationMs(text)).toBeUndefined(),
  );
});

describe("sizes", () => {
  test.each([
    ["64KiB", 65_536],
    ["20MiB", 20_971_520],
    ["1GiB", 1_073_741_824],
    ["10B", 10],
    ["1MB", 1_000_000],
  ])("%s", (text, bytes) => expect(parseSizeBytes(text)).toBe(bytes));
  test.each(["", "20", "20mib", "-1KiB", "1TiBx"])("refuses %p", (text) =>
    expect(parseSizeBytes(text)).toBeUndefined(),
  );
});
