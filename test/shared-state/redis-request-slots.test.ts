// Requests at once that nodes count together through a real Redis: exact while it is available, each node's share while it is not,
// and given back when a node dies.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { type SharedRequestSlots, sharedRequestSlots } from "../../src/shared-state/redis-request-slots.ts";
import type { ScopedLimit, Slot } from "../../src/shared-state/request-slots.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

interface Node {
  readonly slots: SharedRequestSlots;
  readonly redis: SharedRedis;
  becomes(isUp: boolean): Promise<void>;
  close(): Promise<void>;
}

function join(url: string, { nodes = 3, onFailure = "local" as "local" | "closed" } = {}): Node {
  const waiting: { isUp: boolean; resolve: () => void }[] = [];
  const redis = connectRedis({
    url,
    changed: (isUp) => {
      for (const one of waiting) if (one.isUp === isUp) one.resolve();
    },
    problem: () => undefined,
  });
  const slots = sharedRequestSlots({
    redis,
    onFailure: () => onFailure,
    liveNodes: () => nodes,
    node: crypto.randomUUID(),
    now: () => systemClock.now(),
  });
  const becomes = async (isUp: boolean) => {
    if (redis.isUp() === isUp) return;
    await new Promise<void>((resolve) => waiting.push({ isUp, resolve }));
  };
  const close = async () => {
    slots.stop();
    await redis.close();
  };
  return { slots, redis, becomes, close };
}

const three = async (url: string) => {
  const nodes = [join(url), join(url), join(url)];
  await Promise.all(nodes.map((node) => node.becomes(true)));
  return nodes;
};

let count = 0;
const keyOf = (limit: number, of: ScopedLimit["of"] = "key"): ScopedLimit => ({ id: `${of}-${++count}`, of, limit });

/** The slots that this many requests get, which are sent to the nodes in turn, all at once. */
async function taken(nodes: readonly Node[], limits: readonly ScopedLimit[], requests: number): Promise<Slot[]> {
  const asked = Array.from({ length: requests }, async (_, n) => nodes[n % nodes.length]!.slots.take(limits));
  return (await Promise.all(asked)).flatMap((one) => ("reached" in one ? [] : [one]));
}

/** Waits for what nodes have told Redis so far. */
const settled = (nodes: readonly Node[], key: ScopedLimit) =>
  Promise.all(nodes.map(async ({ slots }) => slots.take([{ ...key, limit: 0 }])));

describe.skipIf(!HAS_REDIS)("over a real Redis", () => {
  let redis: TestRedis;
  let nodes: Node[];
  beforeAll(async () => {
    redis = await startRedis();
    nodes = await three(redis.url);
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await redis.stop();
  });

  test("three nodes admit exactly the limit, again and again", async () => {
    const key = keyOf(7);
    for (let round = 0; round < 3; round++) {
      const slots = await taken(nodes, [key], 100);
      expect(slots).toHaveLength(7);
      for (const slot of slots) slot.release();
      // A second time gives nothing back.
      slots[0]!.release();
      await settled(nodes, key);
    }
  });

  test("a slot is taken of every limit, or of none, and the limit that is reached is named", async () => {
    const [key, project] = [keyOf(5), keyOf(2, "project")];
    const slots = await taken(nodes, [key, project], 20);
    expect(slots).toHaveLength(2);
    expect(await nodes[0]!.slots.take([key, project])).toEqual({ reached: project });
    // The refused ones have none of the key's.
    expect(await taken(nodes, [key], 20)).toHaveLength(3);
  });

  test("a request that ends makes room for one that looks a moment later", async () => {
    const key = keyOf(1);
    const [first] = await taken(nodes, [key], 1);
    const next = nodes[1]!.slots.take([key]);
    first!.release();
    expect("reached" in (await next)).toBe(false);
  });

  test("the slots of a node that dies are free when their entries have expired, within 30 s", async () => {
    const key = keyOf(3);
    const dying = await three(redis.url);
    expect(await taken(dying, [key], 9)).toHaveLength(3);
    // It renews nothing and gives nothing back.
    await Promise.all(dying.map((node) => node.close()));
    const set = `sallyport:slots:${key.id}`;
    const entries = (await redis.ask("ZRANGE", set, "0", "-1")) as string[];
    expect(entries).toHaveLength(3);
    const [seconds] = (await redis.ask("TIME")) as string[];
    for (const entry of entries)
      expect(Number(await redis.ask("ZSCORE", set, entry)) - Number(seconds) * 1000).toBeWithin(1, 31_001);
    expect(await taken(nodes, [key], 9)).toHaveLength(0);
    // The time has passed.
    for (const entry of entries) await redis.ask("ZADD", set, "1", entry);
    expect(await taken(nodes, [key], 9)).toHaveLength(3);
  });
});

describe.skipIf(!HAS_REDIS)("when Redis is gone", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test("each node admits its share, and what runs meanwhile counts when an empty Redis is back", async () => {
    const nodes = await three(redis.url);
    const key = keyOf(9);
    expect(await taken(nodes, [key], 3)).toHaveLength(3);
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    const slots = await taken(nodes, [key], 60);
    // One of each node's share of three was taken before.
    expect(slots).toHaveLength(6);
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    expect(await taken(nodes, [key], 60)).toHaveLength(0);
    for (const slot of slots) slot.release();
    await settled(nodes, key);
    // For a while nobody may have more than its share; the first requests at each node may find others not yet gone.
    let free: Slot[] = [];
    while (free.length < 6) free = [...free, ...(await taken(nodes, [key], 60))];
    expect(free).toHaveLength(6);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test("with the setting `closed`, none is admitted", async () => {
    const node = join(redis.url, { onFailure: "closed" });
    await node.becomes(true);
    await redis.kill();
    await node.becomes(false);
    await expect((async () => node.slots.take([keyOf(9)]))()).rejects.toMatchObject({ apiCode: "server_busy" });
    await node.close();
    await redis.start();
  });
});
