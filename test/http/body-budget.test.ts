import { expect, mock, test } from "bun:test";
import fc from "fast-check";
import { longStep } from "../../src/base/long-steps.ts";
import { type BodyHold, createBodyBudget } from "../../src/http/body-budget.ts";

const never = new AbortController().signal;

/** The current state of a hold: granted or waiting. */
function ask(budget: ReturnType<typeof createBodyBudget>, holder: string, bytes: number) {
  const asked: { hold?: BodyHold; given: Promise<BodyHold> } = { given: Promise.resolve(undefined as never) };
  const answer = budget.hold(holder, bytes, never);
  if (answer instanceof Promise) asked.given = answer;
  else {
    asked.hold = answer;
    asked.given = Promise.resolve(answer);
  }
  return asked;
}

test("one account gets at most two thirds, and the rest is for others", async () => {
  const budget = createBodyBudget(() => 90);
  const first = [1, 2, 3, 4, 5, 6].map(() => ask(budget, "a", 10));
  expect(first.every(({ hold }) => hold !== undefined)).toBe(true);
  const seventh = ask(budget, "a", 10);
  expect(seventh.hold).toBeUndefined();
  expect(ask(budget, "b", 20).hold).toBeDefined();
  expect(budget.held()).toBe(80);
  first[0]?.hold?.release();
  first[1]?.hold?.release();
  first[2]?.hold?.release();
  await seventh.given;
  expect(budget.held()).toBe(60);
});

test("waiting requests are served in order, and one that is too large for now is not overtaken", async () => {
  const budget = createBodyBudget(() => 100);
  const whole = ask(budget, "a", 100);
  const order: string[] = [];
  const wait = (name: string, bytes: number) =>
    ask(budget, name, bytes).given.then((hold) => {
      order.push(name);
      return hold;
    });
  const [large, small] = [wait("b", 90), wait("c", 20)];
  whole.hold?.shrinkTo(50);
  await Promise.resolve();
  expect(order).toEqual([]);
  whole.hold?.release();
  (await large).release();
  await small;
  expect(order).toEqual(["b", "c"]);
});

test.each([
  ["bodies that were reserved as the longest, and were short", { bodies: 8, bytes: 1000, others: 120_000_000 }, 0],
  ["few long ones that come one by one", { bodies: 7, bytes: 20_000_000, others: 0 }, 0],
  ["many long ones that come one by one", { bodies: 8, bytes: 20_000_000, others: 0 }, 1],
  ["few long ones beside others", { bodies: 2, bytes: 20_000_000, others: 120_000_000 }, 1],
  ["one long one beside others", { bodies: 1, bytes: 20_000_000, others: 140_000_000 }, 0],
])("collections of garbage after %s", async (_, { bodies, bytes, others }, collections) => {
  const collect = mock(() => undefined);
  const budget = createBodyBudget(() => 640_000_000, 1000, collect);
  await budget.hold("other", others, never);
  for (let body = 0; body < bodies; body++) {
    const hold = await budget.hold(`${body}`, 20_000_000, never);
    hold.shrinkTo(bytes);
    hold.release();
  }
  await longStep();
  await longStep();
  expect(collect).toHaveBeenCalledTimes(collections);
});

test("a body that is larger than the budget is admitted alone", async () => {
  const budget = createBodyBudget(() => 100);
  const small = ask(budget, "a", 1);
  const huge = ask(budget, "b", 500);
  expect(huge.hold).toBeUndefined();
  small.hold?.release();
  (await huge.given).release();
  expect(budget.held()).toBe(0);
});

test("a request that waits too long gets 503 and Retry-After, and one that leaves makes room for the next", async () => {
  const budget = createBodyBudget(() => 100, 20);
  const whole = ask(budget, "a", 100);
  const error = await ask(budget, "b", 50).given.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ apiCode: "server_busy", status: 503, detail: { retryAfterSeconds: 5 } });
  const patient = createBodyBudget(() => 100);
  const some = ask(patient, "a", 60);
  const abort = new AbortController();
  const leaving = patient.hold("b", 90, abort.signal);
  const next = ask(patient, "c", 30);
  expect(next.hold).toBeDefined();
  abort.abort(new Error("left"));
  await expect(leaving).rejects.toThrow("left");
  some.hold?.release();
  next.hold?.release();
  whole.hold?.release();
  expect([budget.held(), patient.held()]).toEqual([0, 0]);
});

test("the budget is never exceeded, and nothing is held in the end", async () => {
  const step = fc.record({
    holder: fc.constantFrom("a", "b", "c"),
    bytes: fc.integer({ min: 1, max: 60 }),
    ends: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const budget = createBodyBudget(() => 60);
      const open: BodyHold[] = [];
      const waiting: Promise<unknown>[] = [];
      for (const { holder, bytes, ends } of steps) {
        const asked = ask(budget, holder, bytes);
        waiting.push(asked.given.then((hold) => open.push(hold)));
        await Promise.resolve();
        expect(budget.held()).toBeLessThanOrEqual(60);
        for (const hold of open.splice(0, ends)) hold.release();
      }
      let all = false;
      void Promise.all(waiting).then(() => {
        all = true;
      });
      for (let turn = 0; turn < 500 && !(all && open.length === 0); turn++) {
        for (const hold of open.splice(0)) hold.release();
        await Promise.resolve();
      }
      expect(all).toBe(true);
      expect(budget.held()).toBe(0);
    }),
    { numRuns: 200 },
  );
});
