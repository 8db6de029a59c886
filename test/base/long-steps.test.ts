import { expect, test } from "bun:test";
import { longStep, turnShare } from "../../src/base/long-steps.ts";
import { createPause } from "../../src/base/time-slices.ts";

test("at most one long step runs in a turn of the event loop, in the order of asking", async () => {
  let turn = 0;
  let running = true;
  const count = () => {
    turn++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  const order: string[] = [];
  const work = async (name: string) => {
    for (let n = 0; n < 3; n++) {
      await longStep();
      turns.push(turn);
      order.push(name);
    }
  };
  await Promise.all([work("a"), work("b"), work("c")]);
  running = false;
  expect(new Set(turns).size).toBe(9);
  expect(order.join("")).toBe("abcabcabc");
});

/** Counts the turns of the event loop until `work` ends. */
async function withTurns(work: (turn: () => number) => Promise<void>): Promise<void> {
  let turn = 0;
  let running = true;
  const count = () => {
    turn++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  await work(() => turn).finally(() => {
    running = false;
  });
}

test("loops that run at once take one slice in each turn", async () => {
  await withTurns(async (turn) => {
    const turns: number[] = [];
    const loop = async () => {
      const pause = createPause();
      for (let slices = 0; slices < 3; ) {
        const wait = pause();
        if (wait === undefined) continue;
        await wait;
        turns.push(turn());
        slices++;
      }
    };
    await Promise.all([loop(), loop(), loop()]);
    expect(new Set(turns).size).toBe(9);
  });
});

test("the share of a turn is for all who ask, and the others wait for turns of their own", async () => {
  await withTurns(async (turn) => {
    const share = turnShare(10);
    const done = new Map<number, number>();
    const work = async (units: number) => {
      for (let n = 0; n < 3; n++) {
        const wait = share(units, 1);
        if (wait !== undefined) await wait;
        done.set(turn(), (done.get(turn()) ?? 0) + units);
      }
    };
    await Promise.all([work(6), work(6), work(6), work(6)]);
    // What waited and what is still within the share.
    expect(Math.max(...done.values())).toBeLessThanOrEqual(6 + 10);
    expect([...done.values()].reduce((sum, units) => sum + units, 0)).toBe(72);
  });
});

test("of requests' steps the oldest one's goes first, and takes turns with other steps", async () => {
  const order: string[] = [];
  const step = (name: string, sinceMs?: number) => longStep(sinceMs).then(() => order.push(name));
  await Promise.all([
    ...[step("x"), step("y"), step("30", 30), step("10", 10), step("20", 20), step("10 again", 10)],
    step("z"),
  ]);
  const ofRequests = order.filter((name) => !"xyz".includes(name));
  expect(ofRequests).toEqual(["10", "10 again", "20", "30"]);
  expect(order.filter((name) => "xyz".includes(name))).toEqual(["x", "y", "z"]);
  expect(order.lastIndexOf("z")).toBeLessThan(6);
});

test("a request leaves its share of a turn to an older one that waits for a step", async () => {
  const share = turnShare(10);
  const older = longStep(1);
  expect(share(1, 1)).toBeUndefined();
  const wait = share(1, 2);
  expect(wait).toBeInstanceOf(Promise);
  await Promise.all([older, wait]);
  expect(share(1, 2)).toBeUndefined();
});
