// Budgets of several nodes through a real Redis: on any node, what fits is admitted and what does not fit is refused. A
// reservation ends with its request or with its node.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { type SharedReservations, sharedReservations } from "../../src/shared-state/redis-reservations.ts";
import type { Budget, Reservation, Unwritten } from "../../src/shared-state/reservations.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

let count = 0;
const NOTHING: Unwritten = { pendingMicros: () => 0, whenWritten: () => undefined };

/** What one node has spent of a budget of all, and writes to the database when told. */
class Spender implements Unwritten {
  static readonly spent = new Map<string, number>();
  readonly #pending = new Map<string, number>();
  readonly #listeners: Parameters<Unwritten["whenWritten"]>[0][] = [];
  pendingMicros(id: string): number {
    return this.#pending.get(id) ?? 0;
  }
  whenWritten(listener: Parameters<Unwritten["whenWritten"]>[0]): void {
    this.#listeners.push(listener);
  }
  spend(id: string, micros: number): void {
    this.#pending.set(id, this.pendingMicros(id) + micros);
  }
  write(): void {
    const amounts = [...this.#pending].map(([id, costMicros]) => ({ id, costMicros }));
    this.#pending.clear();
    for (const { id, costMicros } of amounts) Spender.spent.set(id, (Spender.spent.get(id) ?? 0) + costMicros);
    for (const listener of this.#listeners) listener(amounts);
  }
  /** The budget as this node sees it: what others have written is known when it is read again. */
  budget(id: string, limit: number): Budget {
    let read = 0;
    return {
      ...{ id, of: "key" },
      async refresh() {
        read = Spender.spent.get(id) ?? 0;
      },
      leftMicros: () => limit - read - this.pendingMicros(id),
    };
  }
}

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

  async function node({
    onFailure = "local" as "local" | "closed",
    unwritten = NOTHING,
  } = {}): Promise<SharedReservations> {
    const connection = connectRedis({ url: redis.url, changed: () => undefined, problem: () => undefined });
    await connection.settled();
    const reservations = sharedReservations({
      redis: connection,
      onFailure: () => onFailure,
      liveNodes: () => 3,
      node: crypto.randomUUID(),
      unwritten,
    });
    open.push({ redis: connection, reservations });
    return reservations;
  }
  const three = () => Promise.all([node(), node(), node()]);
  const isHold = (one: Awaited<ReturnType<SharedReservations["reserve"]>>): one is Reservation => !("why" in one);

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
    expect(isHold(await other!.reserve([budget], 10))).toBe(true);
  });

  /** Sends requests of 1,000 in turn over three nodes until five are refused; gives how many passed, and the refusals. */
  async function inTurn({ reserved, write }: { reserved: number; write: (at: number) => boolean }) {
    const id = `turn-${++count}`;
    const spenders = [new Spender(), new Spender(), new Spender()];
    const nodes = await Promise.all(spenders.map((unwritten) => node({ unwritten })));
    const budgets = spenders.map((spender) => spender.budget(id, 10_000));
    const run = async () => {
      let passed = 0;
      const refusals: string[] = [];
      for (let at = 0; refusals.length < 5; at++) {
        const [own, spender, budget] = [nodes[at % 3]!, spenders[at % 3]!, budgets[at % 3]!];
        const hold = await own.reserve([budget], reserved);
        if (isHold(hold)) {
          passed += 1;
          spender.spend(id, 1000);
          hold.release();
        } else refusals.push(hold.why);
        if (write(at)) for (const one of spenders) one.write();
      }
      return { passed, refusals: new Set(refusals) };
    };
    return run;
  }

  const WRITES: readonly (readonly [string, (at: number) => boolean])[] = [
    ["at once", () => true],
    ["now and then", (at) => at % 4 === 3],
    ["never", () => false],
  ];
  for (const [when, write] of WRITES)
    for (const reserved of [500, 1000, 16_000])
      test(`a client that asks in turn spends its budget once, whatever is reserved (${reserved}), usage written ${when}`, async () => {
        const run = await inTurn({ reserved, write });
        expect(await run()).toEqual({ passed: 10, refusals: new Set(["spent"]) });
      });

  for (const [when, write] of WRITES)
    for (const reserved of [500, 1000, 16_000])
      test(`without Redis it spends about its budget over all nodes (${reserved}), usage written ${when}`, async () => {
        const run = await inTurn({ reserved, write });
        await redis.kill();
        const { passed } = await run();
        await redis.start();
        expect([9, 10, 11]).toContain(passed);
      });

  test("Redis that comes back empty learns at once what is reserved and what is not written", async () => {
    const [first, second] = [new Spender(), new Spender()];
    const [one, other] = [await node({ unwritten: first }), await node({ unwritten: second })];
    const id = `empty-${++count}`;
    const done = await one.reserve([first.budget(id, 100)], 60);
    if (!isHold(done)) throw new Error("refused");
    first.spend(id, 50);
    done.release();
    await one.reserve([first.budget(id, 100)], 40);
    await redis.kill();
    await redis.start();
    const key = `sallyport:reserved:${id}`;
    while ((await redis.ask("ZCARD", key)) !== 2) await Bun.sleep(5);
    while (!open.every((each) => each.redis.isUp())) await Bun.sleep(5);
    expect(await other.reserve([second.budget(id, 100)], 20)).toMatchObject({ why: "in_use" });
  });

  test("the entries of a node that is gone end within half a minute", async () => {
    const one = new Spender();
    const own = await node({ unwritten: one });
    const id = `gone-${++count}`;
    const hold = await own.reserve([one.budget(id, 100)], 30);
    if (!isHold(hold)) throw new Error("refused");
    one.spend(id, 20);
    await own.reserve([one.budget(id, 100)], 10);
    hold.release();
    const key = `sallyport:reserved:${id}`;
    const [seconds] = ((await redis.ask("TIME")) as string[]).map(Number);
    const [last] = (await redis.ask("ZRANGE", key, "-1", "-1")) as string[];
    const endsMs = await redis.ask("ZSCORE", key, last!);
    expect(await redis.ask("ZCARD", key)).toBe(2);
    expect(Number(endsMs) / 1000 - seconds!).toBeLessThanOrEqual(31);
  });

  test("an entry of a node that is gone ends by itself", async () => {
    const [one] = await three();
    const budget = budgetOf(() => 10);
    await redis.ask("ZADD", `sallyport:reserved:${budget.id}`, "1", "gone:1:10");
    expect(isHold(await one!.reserve([budget], 10))).toBe(true);
  });

  test("a request that is refused because the answer came too late reserves nothing", async () => {
    const connection = connectRedis({ url: redis.url, changed: () => undefined, problem: () => undefined });
    await connection.settled();
    let asked = 0;
    const late: SharedRedis = {
      ...connection,
      run: async (...question) => {
        const reply = await connection.run(...question);
        if (asked++ === 0) throw new Error("Command timed out");
        return reply;
      },
    };
    const reservations = sharedReservations({
      ...{ redis: late, onFailure: () => "closed", liveNodes: () => 3, node: "late", unwritten: NOTHING },
    });
    open.push({ redis: connection, reservations });
    const budget = budgetOf(() => 10);
    expect(await reservations.reserve([budget], 10).catch((error: unknown) => error)).toMatchObject({
      apiCode: "server_busy",
    });
    expect(await redis.ask("ZCARD", `sallyport:reserved:${budget.id}`)).toBe(0);
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
