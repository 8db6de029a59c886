import { describe, expect, test } from "bun:test";
import { type Limit, limit, lone } from "../../src/base/limit.ts";

/** Resolves when a timeout of this length has passed. */
const passing = (ms: number) => new Promise<void>((resolve) => limit(ms, resolve));

describe("limits", () => {
  test("pass in the order they were set, not before their time", async () => {
    const from = performance.now();
    const seen: string[] = [];
    limit(20, () => seen.push("a"));
    limit(20, () => seen.push("b"));
    await passing(20);
    expect(seen).toEqual(["a", "b"]);
    expect(performance.now() - from).toBeGreaterThanOrEqual(20);
  });

  test("that were called off do not pass, wherever they stood in the queue", async () => {
    const seen: number[] = [];
    const limits = [0, 1, 2, 3, 4].map((at) => limit(15, () => seen.push(at)));
    for (const at of [0, 2, 4]) limits[at]?.cancel();
    await passing(15);
    expect(seen).toEqual([1, 3]);
  });

  test("may be called off twice, after they have passed, and by one another", async () => {
    const seen: string[] = [];
    let second: Limit | undefined;
    const first = limit(10, () => {
      seen.push("first");
      second?.cancel();
    });
    second = limit(10, () => seen.push("second"));
    await passing(10);
    first.cancel();
    second.cancel();
    second.cancel();
    await passing(10);
    expect(seen).toEqual(["first"]);
  });

  test("of another length have a queue of their own", async () => {
    const seen: string[] = [];
    limit(40, () => seen.push("late"));
    limit(5, () => seen.push("early"));
    await passing(5);
    expect(seen).toEqual(["early"]);
    await passing(40);
    expect(seen).toEqual(["early", "late"]);
  });

  test("that are set while one passes get their time", async () => {
    const from = performance.now();
    await new Promise<void>((resolve) => limit(12, () => limit(12, resolve)));
    expect(performance.now() - from).toBeGreaterThanOrEqual(24);
  });

  test("of more lengths than are kept apart pass all the same", async () => {
    const seen = new Set<number>();
    const all = Array.from({ length: 150 }, (_, at) => 10 + at / 100);
    await Promise.all(all.map((ms) => new Promise<void>((resolve) => limit(ms, () => resolve(void seen.add(ms))))));
    expect(seen.size).toBe(150);
  });

  test("of one time only pass, or are called off", async () => {
    const seen: string[] = [];
    lone(5, () => seen.push("gone")).cancel();
    await new Promise<void>((resolve) => lone(10, resolve));
    expect(seen).toEqual([]);
  });
});
