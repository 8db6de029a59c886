// Breakers that nodes share through a real Redis: opened for all, probed by one, closed for all, and each node's own while
// Redis is gone.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { type SharedBreakers, sharedBreakers } from "../../src/shared-state/redis-breakers.ts";
import type { Breaker } from "../../src/upstream/breaker.ts";
import { Breakers } from "../../src/upstream/breakers.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

const COOLDOWN_MS = 30_000;
const SETTINGS = { failures: 3, windowMs: 60_000, cooldownMs: COOLDOWN_MS };

interface Node extends RedisNode {
  readonly clock: FakeClock;
  readonly breakers: Breakers;
  readonly shared: SharedBreakers;
  readonly changes: string[];
}

describe.skipIf(!HAS_REDIS)("a breaker on three nodes", () => {
  let redis: TestRedis;
  let name: string;
  let count = 0;
  const nodes: Node[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) {
      node.shared.stop();
      await node.redis.close();
    }
  });
  afterAll(() => redis?.stop());

  async function join(): Promise<Node> {
    const node = await joinRedis(redis.url);
    const shared = sharedBreakers(node);
    const clock = new FakeClock();
    const changes: string[] = [];
    const breakers = new Breakers(clock, (_, state) => void changes.push(state), shared.join);
    breakers.configure(new Map([[name, SETTINGS]]));
    shared.onUnknown((named) => breakers.know(named));
    const joined = { ...node, shared, clock, breakers, changes };
    nodes.push(joined);
    return joined;
  }
  async function three(): Promise<[Node, Node, Node]> {
    name = `provider ${++count}`;
    const all: [Node, Node, Node] = [await join(), await join(), await join()];
    // A change is heard by those that listen, and read by those that do not yet.
    for (;;) {
      const [[, heard] = []] = [(await redis.ask("PUBSUB", "NUMSUB", all[0].redis.channel("breakers"))) as unknown[]];
      if (Number(heard) >= all.length) return all;
    }
  }
  const of = (node: Node): Breaker => node.breakers.of(name, "m")!.model;
  /** Resolves when the node's breaker is in the state. */
  async function becomes(node: Node, state: string): Promise<void> {
    while (of(node).state !== state) await Bun.sleep(5);
  }
  async function fail(node: Node): Promise<void> {
    for (let n = 0; n < SETTINGS.failures; n++) (await of(node).acquireOfAll())?.settle("failed");
  }
  /** Lets the cooldown pass, on Redis too. */
  async function cool(all: readonly Node[]): Promise<void> {
    for (const node of all) node.clock.advance(COOLDOWN_MS);
    const key = `sallyport:breaker:${name}/m`;
    for (;;) {
      const entry = await redis.ask("GET", key);
      if (entry === null) continue;
      const [at, state] = JSON.parse(String(entry)) as string[];
      await redis.ask("SET", key, JSON.stringify([at, state, "0"]));
      return;
    }
  }

  test("opens for all when it opens on one, whose failures alone count", async () => {
    const all = await three();
    for (const node of all) {
      for (let n = 0; n < SETTINGS.failures - 1; n++) of(node).acquire()?.settle("failed");
      expect(of(node).state).toBe("closed");
    }
    of(all[0]).acquire()?.settle("failed");
    for (const node of all) {
      await becomes(node, "open");
      expect(of(node).refuses()).toBe(true);
      expect(of(node).waitMs()).toBeGreaterThan(0);
      expect(of(node).waitMs()).toBeLessThanOrEqual(COOLDOWN_MS);
      expect(node.changes).toEqual(["open"]);
    }
  });

  test("asks Redis nothing while it is closed", async () => {
    const [node] = await three();
    const answer = of(node).acquireOfAll();
    expect(answer).not.toBeInstanceOf(Promise);
    expect(answer).toBeDefined();
  });

  test.each([
    ["ok", "closed"],
    ["failed", "open"],
  ] as const)("lets one node probe, and its outcome %s makes it %s for all", async (outcome, state) => {
    const all = await three();
    await fail(all[0]);
    for (const node of all) await becomes(node, "open");
    await cool(all);
    for (const node of all) expect(of(node).state).toBe("half_open");
    const permits = await Promise.all([...all, ...all].map((node) => of(node).acquireOfAll()));
    const probes = permits.filter((permit) => permit !== undefined);
    expect(probes).toHaveLength(1);
    for (const node of all) expect(of(node).refuses()).toBe(true);
    probes[0]!.settle(outcome);
    for (const node of all) await becomes(node, state);
  });

  test("lets another node probe after a probe that said nothing", async () => {
    const all = await three();
    await fail(all[0]);
    for (const node of all) await becomes(node, "open");
    await cool(all);
    const first = await of(all[0]).acquireOfAll();
    expect(await of(all[1]).acquireOfAll()).toBeUndefined();
    first!.settle("unknown");
    while (of(all[1]).refuses()) await Bun.sleep(5);
    expect(await of(all[1]).acquireOfAll()).toBeDefined();
  });

  test("is reset for all by an operator on one, with its failures", async () => {
    const all = await three();
    await fail(all[0]);
    for (const node of all) await becomes(node, "open");
    of(all[2]).reset();
    for (const node of all) {
      await becomes(node, "closed");
      expect(of(node).snapshot().failures).toBe(0);
    }
  });

  test("is open on all nodes for the account whose calls fail, and for all once others fail too", async () => {
    const all = await three();
    for (let n = 0; n < SETTINGS.failures; n++) (await of(all[0]).acquireOfAll("bad"))?.settle("failed");
    for (const node of all) {
      await becomes(node, "open");
      expect([of(node).refuses("bad"), of(node).refuses("good")]).toEqual([true, false]);
    }
    (await of(all[1]).acquireOfAll("good"))?.settle("failed");
    for (const node of all) while (!of(node).refuses("third")) await Bun.sleep(5);
  });

  test("is open for a node that starts later", async () => {
    const all = await three();
    await fail(all[0]);
    await becomes(all[1], "open");
    const late = await join();
    await becomes(late, "open");
    expect(of(late).waitMs()).toBeLessThanOrEqual(COOLDOWN_MS);
  });

  test("is known to a node that starts later and has not called the model", async () => {
    const all = await three();
    await fail(all[0]);
    await becomes(all[1], "open");
    // Names that are open no longer are dropped.
    await redis.ask("ZADD", "sallyport:breakers:open", "1", `${name}/former`);
    const late = await join();
    while (late.breakers.stateOf(name, "m") !== "open") await Bun.sleep(5);
    expect(late.breakers.snapshot().get(name)?.state).toBe("open");
    expect(await redis.ask("ZRANGE", "sallyport:breakers:open", "0", "-1")).not.toContain(`${name}/former`);
    of(late).reset();
    await becomes(all[0], "closed");
    while (await redis.ask("ZSCORE", "sallyport:breakers:open", `${name}/m`)) await Bun.sleep(5);
  });

  test("is known to a node that lost its connection and has not called the model", async () => {
    const all = await three();
    await redis.kill();
    await Promise.all(all.map((node) => node.becomes(false)));
    await fail(all[0]);
    await redis.start();
    await Promise.all(all.map((node) => node.becomes(true)));
    while (all[2].breakers.stateOf(name, "m") !== "open") await Bun.sleep(5);
  }, 60_000);

  test("is each node's own while Redis is gone, and told when it is back empty", async () => {
    const all = await three();
    await fail(all[0]);
    for (const node of all) await becomes(node, "open");
    await redis.kill();
    await Promise.all(all.map((node) => node.becomes(false)));
    for (const node of all) node.clock.advance(COOLDOWN_MS);
    // Each probes for itself.
    const probes = await Promise.all(all.map((node) => of(node).acquireOfAll()));
    expect(probes.every((permit) => permit !== undefined)).toBe(true);
    probes[0]!.settle("failed");
    probes[1]!.settle("ok");
    probes[2]!.settle("ok");
    expect(all.map((node) => of(node).state)).toEqual(["open", "closed", "closed"]);
    await redis.start();
    await Promise.all(all.map((node) => node.becomes(true)));
    // Whoever tells last is heard by all.
    const states = () => new Set(all.map((node) => of(node).state));
    while (states().size > 1) await Bun.sleep(5);
    of(all[0]).reset();
    for (const node of all) await becomes(node, "closed");
    await fail(all[1]);
    for (const node of all) await becomes(node, "open");
  }, 60_000);

  test("stays open for all when Redis restarts empty, for nodes that start then too", async () => {
    const all = await three();
    await fail(all[0]);
    for (const node of all) await becomes(node, "open");
    await redis.kill();
    await Promise.all(all.map((node) => node.becomes(false)));
    await redis.start();
    await Promise.all(all.map((node) => node.becomes(true)));
    const late = await join();
    await becomes(late, "open");
    for (const node of all) expect(of(node).state).toBe("open");
  }, 60_000);
});
