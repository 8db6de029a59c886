// When the writer of usage ends: a flush, and a close over a store that fails for a while.

import { expect, test } from "bun:test";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { usageRecord } from "./records.ts";

test("a flush ends though more is recorded while it writes, and a close writes all of it", async () => {
  const written: number[] = [];
  let more = 40;
  const writer = new UsageWriter({
    async writeUsage({ rows }) {
      written.push(rows.length);
      if (more-- > 0) writer.record(usageRecord({}));
    },
  });
  for (let i = 0; i < 600; i++) writer.record(usageRecord({}));
  expect(await writer.flush()).toBe(false);
  expect(written.slice(0, 2)).toEqual([500, 101]);
  expect(written.length).toBeLessThan(6);
  expect(await writer.close()).toBe(true);
  expect(written.reduce((sum, rows) => sum + rows, 0)).toBe(640);
});

test("a close repeats writes that fail until its time has passed", async () => {
  let failures = 3;
  let written = 0;
  const store = {
    async writeUsage({ rows }: { rows: readonly unknown[] }) {
      if (failures-- > 0) throw new Error("the connection was given up");
      written += rows.length;
    },
  };
  const writer = new UsageWriter(store, { flushMs: 1 });
  for (let i = 0; i < 331; i++) writer.record(usageRecord({}));
  expect(await writer.close(600_000)).toBe(true);
  expect([written, writer.state]).toEqual([331, { queued: 0, rowsWithout: 0, failures: 3 }]);

  failures = Number.POSITIVE_INFINITY;
  const other = new UsageWriter(store, { flushMs: 1 });
  other.record(usageRecord({}));
  expect(await other.close(5)).toBe(false);
  expect([other.state.queued, other.state.failures > 1]).toEqual([1, true]);
});

test("a close repeats a write soon, however rarely rows are written", async () => {
  let failures = 1;
  const store = {
    async writeUsage() {
      if (failures-- > 0) throw new Error("the connection was given up");
    },
  };
  const writer = new UsageWriter(store, { flushMs: 86_400_000 });
  writer.record(usageRecord({}));
  expect(await writer.close(600_000)).toBe(true);
  expect(writer.state.failures).toBe(1);
});

test("what is lost is told in requests, also of those without a row of their own", async () => {
  let isBroken = false;
  const store = {
    async writeUsage() {
      if (isBroken) throw new Error("the connection was given up");
    },
  };
  const writer = new UsageWriter(store, { flushMs: 1, queueMax: 10 });
  isBroken = true;
  // Beyond the queue's limit they are summed, and so are most failures of a key.
  for (let i = 0; i < 25; i++) writer.record(usageRecord({}));
  for (let i = 0; i < 100; i++) writer.record(usageRecord({ status: 429 }));
  // A call of an upstream that failed is part of a request.
  writer.record(usageRecord({ isCall: true }));
  expect(writer.unwrittenRequests).toBe(125);
  expect(await writer.flush()).toBe(false);
  for (let i = 0; i < 7; i++) writer.record(usageRecord({}));
  expect(writer.unwrittenRequests).toBe(132);
  expect(await writer.close(0)).toBe(false);
  expect(writer.unwrittenRequests).toBe(132);
  isBroken = false;
  expect([await writer.close(0), writer.unwrittenRequests]).toEqual([true, 0]);
});

test("a full queue is written at once, a shorter one waits for the interval", async () => {
  const written: number[] = [];
  let wrote = () => {};
  const store = {
    async writeUsage({ rows }: { rows: readonly unknown[] }) {
      written.push(rows.length);
      wrote();
    },
  };
  const once = () => new Promise<void>((resolve) => (wrote = resolve));
  const writer = new UsageWriter(store, { flushMs: 86_400_000 });
  const first = once();
  for (let i = 0; i < 500; i++) writer.record(usageRecord({}));
  await first;
  expect(written).toEqual([500]);
  // What is left after a write is no full queue.
  for (let i = 0; i < 499; i++) writer.record(usageRecord({}));
  const second = once();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual([500]);
  writer.record(usageRecord({}));
  await second;
  expect(written).toEqual([500, 500]);
  expect(await writer.close()).toBe(true);
});

test("failures without a row of their own do not put off the write of a full queue", async () => {
  let written = 0;
  const store = {
    async writeUsage({ rows }: { rows: readonly unknown[] }) {
      written += rows.length;
    },
  };
  const writer = new UsageWriter(store, { flushMs: 86_400_000 });
  // The first ones of a minute have their own rows.
  for (let i = 0; i < 100; i++) writer.record(usageRecord({ status: 429 }));
  while (writer.state.queued < 500) writer.record(usageRecord({}));
  expect(writer.state.queued).toBe(500);
  let isOver = false;
  const failMore = () => {
    for (let i = 0; i < 20; i++) writer.record(usageRecord({ status: 429 }));
    if (!isOver) setImmediate(failMore);
  };
  failMore();
  // Due after the write.
  await new Promise((resolve) => setTimeout(resolve, 20));
  isOver = true;
  expect(written).toBeGreaterThanOrEqual(500);
  expect(await writer.close()).toBe(true);
});
