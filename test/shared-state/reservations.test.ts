// Concurrent requests that count against budgets: in any order, a budget is overdrawn by at most one request.

import "../support/seed.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Budget, memoryReservations, type Reservation } from "../../src/shared-state/reservations.ts";

/** A budget, the amount spent of it, and the requests that have reserved some of it. */
class Account implements Budget {
  readonly of = "key";
  readonly id: string;
  readonly limit: number;
  spent = 0;
  dearest = 0;
  underWay = 0;

  constructor(id: string, limit: number) {
    this.id = id;
    this.limit = limit;
  }

  leftMicros = () => this.limit - this.spent;
}

const step = fc.oneof(
  fc.record({
    do: fc.constant("arrive" as const),
    worst: fc.oneof(
      { weight: 1, arbitrary: fc.constant(0) },
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 60 }) },
    ),
    /** Only the first budget, only the second, or both. */
    of: fc.constantFrom([0], [1], [0, 1]),
  }),
  fc.record({
    do: fc.constant("end" as const),
    which: fc.nat(),
    /** The cost in hundredths of the maximum; 0 for a failed request, or one whose client disconnected. */
    cost: fc.integer({ min: 0, max: 100 }),
  }),
);

test("no order of arrivals and ends overdraws a budget by more than one request's cost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 })),
      async (steps, limits) => {
        const reservations = memoryReservations();
        const accounts = limits.map((limit, at) => new Account(`b${at}`, limit));
        const open: { worst: number; hold: Reservation; of: Account[] }[] = [];
        for (const one of steps) {
          if (one.do === "arrive") {
            const of = one.of.map((at) => accounts[at]!);
            const hold = await reservations.reserve(of, one.worst);
            const alone = of.every(({ underWay }) => underWay === 0);
            const someLeft = of.every((account) => account.leftMicros() > 0);
            if ("why" in hold) {
              // No request waits forever: one that would be alone is admitted while something is left, and refused if
              // nothing is left.
              if (alone) expect([hold.why, someLeft]).toEqual(["spent", false]);
              if (hold.why === "spent")
                expect([hold.budget.leftMicros() <= 0, alone || !someLeft]).toEqual([true, true]);
              if (one.worst === 0) expect(someLeft).toBe(false);
            } else {
              expect(someLeft).toBe(true);
              for (const account of of) account.underWay += 1;
              open.push({ worst: one.worst, hold, of });
            }
          } else if (open.length > 0) {
            const [ended] = open.splice(one.which % open.length, 1);
            const cost = Math.floor((ended!.worst * one.cost) / 100);
            for (const account of ended!.of) {
              account.spent += cost;
              account.underWay -= 1;
              account.dearest = Math.max(account.dearest, cost);
            }
            ended!.hold.release();
            ended!.hold.release();
          }
          for (const { spent, limit, dearest } of accounts) expect(spent).toBeLessThanOrEqual(limit + dearest);
        }
        // The reserved amount is released to the last micro-dollar.
        for (const { hold } of open) hold.release();
        for (const account of accounts) {
          const rest = account.leftMicros();
          const last = await reservations.reserve([account], rest);
          expect("why" in last).toBe(rest <= 0);
          if (!("why" in last)) expect(await reservations.reserve([account], 1)).toMatchObject({ why: "in_use" });
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a shared hold lasts until its last holder has let go", async () => {
  const reservations = memoryReservations();
  const budget = new Account("b", 10);
  const hold = await reservations.reserve([budget], 10);
  if ("why" in hold) throw new Error("refused");
  const second = hold.share();
  hold.release();
  hold.release();
  expect(await reservations.reserve([budget], 1)).toMatchObject({ why: "in_use" });
  second.release();
  expect(await reservations.reserve([budget], 1)).not.toHaveProperty("why");
});

test("a part of a request is not kept out by the request's own reservation, but by others'", async () => {
  const reservations = memoryReservations();
  const budget = new Account("b", 10);
  const whole = await reservations.reserve([budget], 10);
  if ("why" in whole) throw new Error("refused");
  expect(await reservations.reserve([budget], 5)).toMatchObject({ why: "in_use" });
  const part = await reservations.reserve([budget], 5, whole);
  if ("why" in part) throw new Error("refused");
  // Two concurrent parts share what is left.
  expect(await reservations.reserve([budget], 6, whole)).toMatchObject({ why: "in_use" });
  part.release();
  whole.release();
  const other = await reservations.reserve([budget], 6);
  if ("why" in other) throw new Error("refused");
  // Requests that have ended no longer count.
  expect(await reservations.reserve([budget], 5, whole)).toMatchObject({ why: "in_use" });
  other.release();
  expect(await reservations.reserve([budget], 5)).not.toHaveProperty("why");
  budget.spent = 10;
  expect(await reservations.reserve([budget], 1, whole)).toMatchObject({ why: "in_use" });
});

test("the request's own reservation stands for nothing in a budget of which it holds nothing", async () => {
  const reservations = memoryReservations();
  const [key, run] = [new Account("key", 100), new Account("run", 10)];
  const whole = await reservations.reserve([key], 10);
  const other = await reservations.reserve([run], 10);
  if ("why" in whole || "why" in other) throw new Error("refused");
  expect(await reservations.reserve([run], 10, whole)).toMatchObject({ why: "in_use" });
  other.release();
  expect(await reservations.reserve([run], 10, whole)).not.toHaveProperty("why");
});
