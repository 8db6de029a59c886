// What a model reports corrects the gateway's counts: only upwards, and only for the account that sent the request.

import { expect, test } from "bun:test";
import { TokenMemory } from "../../../../src/gateway/stages/compaction/measure.ts";

const own = { accountId: "one", model: "m" };

test("counts follow what the model reports", () => {
  const tokens = new TokenMemory();
  for (let i = 0; i < 30; i++) tokens.learn(own, 2500, 2000);
  expect(tokens.own(own, 2000)).toBe(2500);
  // An impossible report changes little.
  tokens.learn(own, 1e9, 2000);
  expect(tokens.own(own, 2000)).toBeLessThan(4000);
  tokens.correct(own, 4000, 1000);
  expect(tokens.own(own, 2000)).toBe(8000);
});

test.each(["learn", "correct"] as const)("%s: no report lowers an estimate below the count", (way) => {
  const tokens = new TokenMemory();
  for (let i = 0; i < 30; i++) tokens[way](own, 10, 100_000);
  expect(tokens.own(own, 2000)).toBe(2000);
});

test.each(["learn", "correct"] as const)("%s: another account or model is not affected", (way) => {
  const tokens = new TokenMemory();
  tokens[way](own, 200_000, 100_000);
  expect(tokens.own(own, 2000)).toBe(4000);
  expect(tokens.own({ ...own, accountId: "two" }, 2000)).toBe(2000);
  expect(tokens.own({ ...own, model: "n" }, 2000)).toBe(2000);
});
