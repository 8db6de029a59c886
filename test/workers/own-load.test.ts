import { expect, test } from "bun:test";
import { watchOwnLoad } from "../../src/workers/own-load.ts";

/** Steps: the time that passes, the processor time used in it, and whether the process is busy then. */
test.each<[string, [passedMs: number, usedMs: number, isBusy: boolean][]]>([
  ["more than half of a processor", [[300, 200, true]]],
  ["less than half of it", [[300, 100, false]]],
  [
    "work that ends",
    [
      [300, 200, true],
      [300, 10, false],
    ],
  ],
  [
    "too short a time to tell",
    [
      [50, 50, false],
      [200, 150, true],
      [50, 0, true],
    ],
  ],
  [
    "work long ago",
    [
      [60_000, 50_000, false],
      [300, 200, true],
    ],
  ],
])("the load of the process: %s", (_, steps) => {
  let nowMs = 1000;
  let usedMs = 500;
  const isBusy = watchOwnLoad({ nowMs: () => nowMs, usedMs: () => usedMs });
  for (const [passed, used, expected] of steps) {
    nowMs += passed;
    usedMs += used;
    expect(isBusy()).toBe(expected);
  }
});
