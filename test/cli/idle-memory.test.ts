import { expect, jest, test } from "bun:test";
import { createIdleMemory } from "../../src/cli/idle-memory.ts";

const MIB = 1024 * 1024;

/** What is seen in one interval: the memory in MiB, the processor time used meanwhile, and what a collection would leave. */
type Interval = readonly [memory: number, cpuMs: number, afterwards?: number];

test.each<[name: string, intervals: readonly Interval[], collections: readonly number[]]>([
  [
    "a process that stays as it is",
    [
      [70, 9],
      [70, 9],
      [77, 9],
      [70, 9],
    ],
    [],
  ],
  [
    "a peak that is over",
    [
      [70, 9],
      [110, 5000],
      [112, 9, 90],
      [90, 9],
    ],
    [2],
  ],
  [
    "a peak that lasts",
    [
      [70, 9],
      [110, 5000],
      [120, 5000],
      [115, 400],
    ],
    [],
  ],
  [
    "memory that is in use",
    [
      [70, 9],
      [110, 9, 110],
      [110, 9],
      [117, 9],
      [119, 9, 110],
    ],
    [1, 4],
  ],
  [
    "a collection that takes long",
    [
      [70, 9],
      [110, 9, 90],
      [99, 9, 90],
      [91, 9],
    ],
    [1, 2],
  ],
])("garbage is collected once a process is idle: %s", (_, intervals, collections) => {
  let at = 0;
  let usedMs = 0;
  let left: number | undefined;
  const collected: number[] = [];
  const { look } = createIdleMemory({
    bytes: () => (left ?? intervals[at]![0]) * MIB,
    cpuMs: () => usedMs,
    collect() {
      collected.push(at);
      left = intervals[at]![2];
      usedMs += 1000;
    },
  });
  for (; at < intervals.length; at++) {
    left = undefined;
    usedMs += intervals[at]![1];
    look();
  }
  expect(collected).toEqual([...collections]);
});

test("garbage is collected within half a minute after the last work", () => {
  jest.useFakeTimers();
  try {
    let memory = 70;
    let usedMs = 0;
    let collections = 0;
    const process = { bytes: () => memory * MIB, cpuMs: () => usedMs, collect: () => void collections++ };
    createIdleMemory(process).start();
    // Work ends just after a look.
    jest.advanceTimersByTime(15_001);
    [memory, usedMs] = [150, 5000];
    jest.advanceTimersByTime(30_000);
    expect(collections).toBe(1);
  } finally {
    jest.useRealTimers();
  }
});
