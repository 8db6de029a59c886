// Lines of requests are written in runs of members that stay the same. They must be what a line alone would be.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonLine, noKnownMembers } from "../../src/telemetry/log-line.ts";
import { makeRedactor } from "../../src/telemetry/redact.ts";

const text = fc.constantFrom("a", "b", "hush", "x".repeat(3000), "päth\n", "");
const value = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 2.5, Number.NaN, Number.POSITIVE_INFINITY) },
  fc.constantFrom(undefined, null, true, ["a"], { b: 1 }),
);
/** Few names and values, so that lines often share members, in any order. */
const members = fc.array(fc.tuple(fc.constantFrom("path", "status", "ms", "model", "api_key", "request_id"), value), {
  maxLength: 8,
});

test("a line is the same whatever the lines before it were", () => {
  const redact = makeRedactor(["hush"]);
  fc.assert(
    fc.property(fc.array(fc.tuple(members, members), { minLength: 2, maxLength: 12 }), (requests) => {
      const known = noKnownMembers();
      for (const [first, second] of requests) {
        const record = {
          timeMs: 1_795_000_000_000,
          level: "info" as const,
          message: "request",
          fields: Object.fromEntries(first),
          more: Object.fromEntries(second),
        };
        expect(jsonLine(record, redact, known)).toBe(jsonLine(record, redact));
      }
    }),
    { numRuns: 300 },
  );
});

test("a member that changes after it stayed the same is written anew, and so are those beside it", () => {
  const redact = makeRedactor([]);
  const known = noKnownMembers();
  const lineOf = (ms: number, model: string) =>
    jsonLine(
      { timeMs: 0, level: "info", message: "request", fields: { path: "/v1", status: 200, ms }, more: { model, n: 1 } },
      redact,
      known,
    );
  const said = [
    [1, "a"],
    [1, "a"],
    [1, "a"],
    [2, "a"],
    [3, "a"],
    [4, "b"],
    [4, "b"],
    [4, "a"],
  ] as const;
  for (const [ms, model] of said)
    expect(JSON.parse(lineOf(ms, model))).toMatchObject({ path: "/v1", status: 200, ms, model, n: 1 });
});
