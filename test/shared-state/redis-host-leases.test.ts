// Turns at hosts that nodes share through a real Redis: the schedulers of two nodes together ask a host as one would.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { createHostScheduler, type HostScheduler, type PageSlot } from "../../src/pages/schedule/host-scheduler.ts";
import { sharedHostLeases } from "../../src/shared-state/redis-host-leases.ts";
import { places } from "../support/places.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

describe.skipIf(!HAS_REDIS)("a host asked by two nodes", () => {
  let redis: TestRedis;
  let host: string;
  let count = 0;
  const nodes: (RedisNode & { readonly scheduler: HostScheduler })[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.redis.close();
  });
  afterAll(() => redis?.stop());

  async function two() {
    host = `host-${++count}.example`;
    for (let n = 0; n < 2; n++) {
      const node = await joinRedis(redis.url);
      nodes.push({ ...node, scheduler: createHostScheduler(systemClock, places(50), sharedHostLeases(node)) });
    }
    return nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  }
  const taken = async () => Number(await redis.ask("ZCARD", `sallyport:host:${host}:turns`));
  const later = () => new Promise((resolve) => setImmediate(resolve));

  test("is asked for four pages at once by both together, and all get their turn", async () => {
    const all = await two();
    let [now, most, done] = [0, 0, 0];
    const work = Array.from({ length: 40 }, async (_, n) => {
      const leave = await all[n % 2]!.scheduler.ask({ host, delayMs: 0 });
      most = Math.max(most, ++now);
      await later();
      now--;
      done++;
      leave();
    });
    await Promise.all(work);
    expect({ most, done }).toEqual({ most: expect.any(Number), done: 40 });
    expect(most).toBeLessThanOrEqual(4);
    while ((await taken()) > 0) await later();
  }, 60_000);

  test("keeps its fifth place for another account, whichever node it asks", async () => {
    const all = await two();
    const stop = new AbortController();
    const visit = (n: number, account: string) => all[n]!.scheduler.visit(account, { host, delayMs: 0 }, stop.signal);
    const slow = await Promise.all([0, 1, 0, 1].map((n) => visit(n, "slow")));
    let more = 0;
    const waiting = [0, 1].map((n) =>
      visit(n, "slow").then(
        () => more++,
        () => undefined,
      ),
    );
    // The program's own requests belong to no account.
    const own = all[0].scheduler.ask({ host, delayMs: 0 }, stop.signal).catch(() => undefined);
    const newcomers: PageSlot[] = [];
    for (const account of ["second", "third", "fourth"]) {
      newcomers.push(await visit(newcomers.length % 2, account));
      expect([await taken(), more]).toEqual([5, 0]);
      slow.pop()!.end();
    }
    stop.abort();
    await Promise.all([...waiting, own]);
    for (const slot of [...slow, ...newcomers]) slot.end();
    while ((await taken()) > 0) await later();
  }, 60_000);

  test("has its delay between any two starts, by the time of Redis", async () => {
    const all = await two();
    const starts: number[] = [];
    const now = async () => {
      const [seconds, micros] = (await redis.ask("TIME")) as string[];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    };
    const begun = await now();
    await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const leave = await all[n % 2]!.scheduler.ask({ host, delayMs: 40 });
        starts.push(n);
        leave();
      }),
    );
    expect(starts).toHaveLength(6);
    // Five delays of the host lie between six starts, however slow the machine is.
    expect((await now()) - begun).toBeGreaterThanOrEqual(5 * 40);
  }, 60_000);

  test("does not hold up another host", async () => {
    const all = await two();
    await all[0].scheduler.ask({ host, delayMs: 600_000 });
    const waits = all[1].scheduler.ask({ host, delayMs: 600_000 });
    waits.catch(() => undefined);
    for (const { scheduler } of all) (await scheduler.ask({ host: `other ${host}`, delayMs: 0 }))();
    expect(all[1].scheduler.load().waiting).toBe(1);
  });

  test("knows a turn again after Redis has lost it, until the request has ended", async () => {
    const [one] = await two();
    const turns = sharedHostLeases({ ...one, renewMs: 5 });
    const turn = await turns.ask(host, { accountId: "one", delayMs: 0, most: 4, newcomerMost: 5 });
    expect([turn?.granted, await taken()]).toEqual([true, 1]);
    await redis.ask("FLUSHALL");
    while ((await taken()) !== 1) await later();
    if (turn?.granted === true) turn.leave();
    while ((await taken()) !== 0) await later();
    turns.stop();
  });

  test("is given back a turn that nobody uses any more", async () => {
    const all = await two();
    const stop = new AbortController();
    const asked = all[0].scheduler.ask({ host, delayMs: 600_000 }, stop.signal);
    asked.catch(() => undefined);
    stop.abort(new Error("enough"));
    expect(asked).rejects.toThrow("enough");
    // The other node need not wait for the delay of a request that was never made.
    (await all[1].scheduler.ask({ host, delayMs: 600_000 }))();
    while ((await taken()) > 0) await later();
  }, 60_000);

  test("is asked by each node alone while Redis is gone, and by both together when it is back empty", async () => {
    const all = await two();
    const held = await Promise.all(all.map(({ scheduler }) => scheduler.ask({ host, delayMs: 0 })));
    await redis.kill();
    await Promise.all(all.map((node) => node.becomes(false)));
    const more = await Promise.all(
      all.flatMap(({ scheduler }) => Array.from({ length: 3 }, () => scheduler.ask({ host, delayMs: 0 }))),
    );
    for (const leave of [...held, ...more]) leave();
    await redis.start();
    await Promise.all(all.map((node) => node.becomes(true)));
    const four = await Promise.all(
      all.flatMap(({ scheduler }) => [0, 1].map(() => scheduler.ask({ host, delayMs: 0 }))),
    );
    expect(await taken()).toBe(4);
    const fifth = all[0].scheduler.ask({ host, delayMs: 0 });
    four.pop()!();
    const leave = await fifth;
    for (const one of [...four, leave]) one();
    while ((await taken()) > 0) await later();
  }, 60_000);
});
