import { expect, test } from "bun:test";
import { longStep } from "../../src/base/long-steps.ts";

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
