// Requests at once and tokens a minute over three nodes on a real Redis: however requests begin, end and are given up on whatever node,
// and nodes die, as many are admitted as the limits leave room for, no more and no fewer.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { sharedRequestSlots } from "../../src/shared-state/redis-request-slots.ts";
import { sharedTokenWindows } from "../../src/shared-state/redis-token-windows.ts";
import type { ScopedLimit, Slot } from "../../src/shared-state/request-slots.ts";
import { memoryTokenWindows, type TokenHold } from "../../src/shared-state/token-windows.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

const NODES = 3;
const PARALLEL = 3;
const TPM = 100;

type Step =
  | { readonly do: "begin"; readonly node: number; readonly tokens: number }
  /** `percent` of what was taken is used; 0: it is given up. */
  | { readonly do: "end"; readonly which: number; readonly percent: number }
  | { readonly do: "die"; readonly node: number };

const node = fc.nat(NODES - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("begin" as const), node, tokens: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      which: fc.nat(9),
      percent: fc.constantFrom(0, 50, 100, 150),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const), node }) },
);

interface Running {
  readonly on: string;
  readonly slot: Slot;
  readonly hold: TokenHold;
  readonly tokens: number;
}

let redis: TestRedis;
const connections: SharedRedis[] = [];

async function join() {
  const connected = Promise.withResolvers<void>();
  const connection = connectRedis({ url: redis.url, changed: () => connected.resolve(), problem: () => undefined });
  connections.push(connection);
  await connected.promise;
  const name = crypto.randomUUID();
  const now = () => systemClock.now();
  const common = { redis: connection, onFailure: () => "closed" as const, liveNodes: () => NODES, node: name, now };
  const slots = sharedRequestSlots(common);
  const windows = sharedTokenWindows({ ...common, local: memoryTokenWindows(systemClock) });
  const die = async () => {
    slots.stop();
    windows.stop();
    await connection.close();
  };
  return { name, slots, windows, die };
}

/** What the node held has expired. */
async function expire(set: string, name: string): Promise<void> {
  for (const entry of (await redis.ask("ZRANGE", set, "0", "-1")) as string[]) {
    if (entry.startsWith(name)) await redis.ask("ZADD", set, "1", entry);
  }
}

let count = 0;

async function run(steps: readonly Step[]): Promise<void> {
  count += 1;
  const parallel: ScopedLimit = { id: `slots-${count}`, of: "key", limit: PARALLEL };
  const tpm: ScopedLimit = { id: `tokens-${count}`, of: "key", limit: TPM };
  const nodes = await Promise.all(Array.from({ length: NODES }, join));
  let running: Running[] = [];
  let used = 0;
  for (const one of steps) {
    const held = running.reduce((sum, { tokens }) => sum + tokens, 0);
    if (one.do === "begin") {
      const { name, slots, windows } = nodes[one.node]!;
      const slot = await slots.take([parallel]);
      expect("reached" in slot).toBe(running.length >= PARALLEL);
      if ("reached" in slot) continue;
      const { hold } = await windows.take([tpm], { least: one.tokens, most: one.tokens });
      expect(hold !== undefined).toBe(held + used + one.tokens <= TPM);
      if (hold === undefined) slot.release();
      else running.push({ on: name, slot, hold, tokens: one.tokens });
    } else if (one.do === "end") {
      const [ended] = running.splice(running.length === 0 ? 0 : one.which % running.length, 1);
      if (ended === undefined) continue;
      const tokens = Math.floor((ended.tokens * one.percent) / 100);
      used += tokens;
      ended.slot.release();
      ended.hold.settle(tokens);
    } else {
      const { name, die } = nodes[one.node]!;
      await die();
      await expire(`sallyport:slots:${parallel.id}`, name);
      await expire(`sallyport:tokens:${tpm.id}:held`, name);
      running = running.filter(({ on }) => on !== name);
      nodes[one.node] = await join();
    }
  }
  await Promise.all(nodes.map(({ die }) => die()));
}

describe.skipIf(!HAS_REDIS)("over a real Redis", () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(connections.map((one) => one.close()));
    await redis.stop();
  });

  test("exactly what the limits leave room for is admitted", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), run), { numRuns: 25 });
  });
});
