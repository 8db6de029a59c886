import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDurationMs, parseSizeBytes } from "../../src/base/quantity.ts";
import { joinPath, nearest, show } from "../../src/config/show.ts";
import { configFolder } from "./support.ts";

const { good, bad } = configFolder();

describe("durations and sizes", () => {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  const durations = fc.record({
    n: fc.integer({ min: 0, max: 20 }),
    unit: fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
  });
  test("every written duration is its milliseconds, in the parser and through a file", () => {
    fc.assert(
      fc.property(durations, ({ n, unit }) => {
        expect(parseDurationMs(`${n}${unit}`)).toBe(n * units[unit]);
        expect(good(`server: {drain_timeout: ${n}${unit}}`).server.drainTimeoutMs).toBe(n * units[unit]);
      }),
      { numRuns: 40 },
    );
  });
  test("text that is no duration is never taken for one", () => {
    const near = fc.tuple(
      fc.constantFrom("", "-", "1", "1.", ".5", "1e3", "0x1", " "),
      fc.constantFrom("", "S", "sec", "s s", "µs", "y", "ms5"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          near.map((parts) => parts.join("")),
          fc.string(),
        ),
        (text) => {
          fc.pre(!/^\s*\d+(\.\d+)?(ms|s|m|h|d)\s*$/.test(text));
          expect(parseDurationMs(text)).toBeUndefined();
        },
      ),
    );
  });
  test("a size is its bytes, and never an unsafe number", () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom("B", "KiB", "MiB", "GiB"), (n, unit) => {
        const bytes = parseSizeBytes(`${n}${unit}`);
        if (bytes !== undefined) expect(bytes).toBe(n * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit));
        expect(parseSizeBytes(`${"9".repeat(30)}${unit}`)).toBeUndefined();
      }),
    );
  });
});

describe("reading is total", () => {
  test("any JSON document is a configuration or has problems of one line; reading never throws", () => {
    const known = [
      "server",
      "providers",
      "models",
      "openai",
      "demo",
      "port",
      "api_key",
      "routes",
      "id",
      "oauth",
      "auth",
      "tiers",
      "web",
      "ports",
    ];
    const value = fc.letrec((tie) => ({
      leaf: fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom("5s", "1MiB", "${X}", "${Y:-1}", "http://x"),
      ),
      tree: fc.oneof(
        { maxDepth: 4 },
        tie("leaf"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), tie("tree"), { maxKeys: 4 }),
      ),
    })).tree;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...known, "x"), value), (document) => {
        for (const problem of bad(JSON.stringify(document))) {
          expect(problem).not.toMatch(/[\r\n]/);
          expect(problem.length).toBeGreaterThan(5);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("naming a place and a value", () => {
  test.each([
    ["", "a", "a"],
    ["a", "b", "a.b"],
    ["a", 0, "a[0]"],
    ["a", "x.y", 'a."x.y"'],
    ["a", "x y", 'a."x y"'],
  ] as const)("%j and %j", (path, key, expected) => expect(joinPath(path, key)).toBe(expected));
  test("long values are cut, others quoted", () => {
    expect(show("x".repeat(100))).toBe(`"${"x".repeat(80)}…"`);
    expect([show("a"), show(1), show(null), show([1]), show({}), show("a", true)]).toEqual([
      '"a"',
      "1",
      "null",
      "a list",
      "a group of keys",
      "***",
    ]);
  });
  test.each([
    ["prot", ["port", "host"], "port"],
    ["apikey", ["api_key", "api_keys"], "api_key"],
    ["API_KEY", ["api_key"], "api_key"],
    ["zzz", ["port", "host"], undefined],
    ["timeouts", ["timeout", "retry"], "timeout"],
  ] as const)("the nearest to %s of %j is %p", (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
  });
});
