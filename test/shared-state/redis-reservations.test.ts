// Budgets of several nodes through a real Redis: on any node, what fits is admitted and what does not fit is refused. A
// reservation ends with its request or with its node.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { type SharedReservations, sharedReservations } from "../../src/shared-state/redis-reservations.ts";
import type { Budget, Hold } from "../../src/shared-state/reservations.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

let count = 0;
const budgetOf = (left: () => number, of: Budget["of"] = "key"): Budget => ({
  id: `b-${++count}`,
  of,
  leftMicros: left,
});

describe.skipIf(!HAS_REDIS)("over a real Redis", () => {
  let redis: TestRedis;
  let open: { redis: SharedRedis; reservations: SharedReservations }[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const one of open) {
      one.reservations.stop();
      await one.redis.close();
    }
    open = [];
  });
  afterAll(() => redis.stop());

  async function node({ onFailure = "local" as "local" | "closed" } = {}): Promise<SharedReservations> {
    const connection = connectRedis({ url: redis.url, changed: () => undefined, problem: () => undefined });
    await connection.settled();
    const reservations = sharedReservations({
      redis: connection,
      onFailure: () => onFailure,
      liveNodes: () => 3,
      node: crypto.randomUUID(),
    });
    open.push({ redis: connection, reservations });
    return reservations;
  }
  const three = () => Promise.all([node(), node(), node()]);
  const isHold = (one: Awaited<ReturnType<SharedReservations["reserve"]>>): one is Hold => !("why" in one);

  test("requests at once over three nodes never reserve more than is left, and as much as fits", async () => {
    const nodes = await three();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 }),
        async (left, costs) => {
          const budget = budgetOf(() => left);
          const asked = costs.map((micros, at) => nodes[at % 3]!.reserve([budget], micros));
          const held = (await Promise.all(asked)).flatMap((one, at) => (isHold(one) ? [costs[at]!] : []));
          const sum = held.reduce((total, one) => total + one, 0);
          // The only request in progress may exceed what is left.
          expect(held.length).toBeGreaterThanOrEqual(1);
          if (held.length > 1) expect(sum).toBeLessThanOrEqual(left);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("sixty requests of a cent over two cents: two pass", async () => {
    const nodes = await three();
    const budget = budgetOf(() => 20_000);
    const asked = Array.from({ length: 60 }, (_, at) => nodes[at % 3]!.reserve([budget], 10_000));
    expect((await Promise.all(asked)).filter(isHold)).toHaveLength(2);
  });

  test("one budget without room refuses all of a request", async () => {
    const [one, other] = await three();
    const [wide, narrow] = [budgetOf(() => 100), budgetOf(() => 10, "account")];
    await one!.reserve([narrow], 10);
    expect(await other!.reserve([wide, narrow], 5)).toEqual({ budget: narrow, why: "in_use" });
    expect(isHold(await other!.reserve([wide], 100))).toBe(true);
  });

  test("spent is told apart from in use", async () => {
    const [one, other] = await three();
    let left = 10;
    const budget = budgetOf(() => left);
    await one!.reserve([budget], 5);
    left = 0;
    expect(await other!.reserve([budget], 1)).toEqual({ budget, why: "in_use" });
    const empty = budgetOf(() => 0);
    expect(await other!.reserve([empty], 1)).toEqual({ budget: empty, why: "spent" });
  });

  test("what was spent is read anew before it is compared", async () => {
    const [one] = await three();
    let left = 10;
    const budget = {
      ...budgetOf(() => left),
      async refresh() {
        left = 0;
      },
    };
    expect(await one!.reserve([budget], 5)).toMatchObject({ why: "spent" });
  });

  test("a part of a request does not stand in its own way, and the last holder frees it", async () => {
    const [one, other] = await three();
    const budget = budgetOf(() => 10);
    const whole = await one!.reserve([budget], 10);
    if (!isHold(whole)) throw new Error("refused");
    const part = await one!.reserve([budget], 10, whole);
    if (!isHold(part)) throw new Error("refused");
    part.release();
    const further = whole.share();
    whole.release();
    expect(await other!.reserve([budget], 10)).toMatchObject({ why: "in_use" });
    further.release();
    // The reservation is removed a moment later, when the recorded cost has been read everywhere.
    for (;;) {
      const next = await other!.reserve([budget], 10);
      if (isHold(next)) break;
      await Bun.sleep(20);
    }
  });

  test("an entry of a node that is gone ends by itself", async () => {
    const [one] = await three();
    const budget = budgetOf(() => 10);
    await redis.ask("ZADD", `sallyport:reserved:${budget.id}`, "1", "gone:1:10");
    expect(isHold(await one!.reserve([budget], 10))).toBe(true);
  });

  test("while it is gone each node spends its share, or none", async () => {
    const [local, closed] = [await node(), await node({ onFailure: "closed" })];
    await redis.kill();
    const budget = budgetOf(() => 30);
    expect(isHold(await local.reserve([budget], 5))).toBe(true);
    expect(isHold(await local.reserve([budget], 5))).toBe(true);
    expect(await local.reserve([budget], 5)).toMatchObject({ why: "in_use" });
    expect(closed.reserve([budget], 5)).rejects.toMatchObject({ apiCode: "server_busy" });
    await redis.start();
  });
});
