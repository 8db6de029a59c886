// The ways to choose among a model's routes: by what was measured, by price and by load.

import { expect, test } from "bun:test";
import { SCENES, simulate } from "../../../scripts/routing/simulate.ts";
import type { ModelRoute } from "../../../src/catalog/models.ts";
import { chosenBy, type RouteChoice } from "../../../src/catalog/route-choice.ts";
import { createRouteScores } from "../../../src/gateway/calls/route-scores.ts";

const [SLOW, ALIKE, FULL] = Object.values(SCENES) as [
  (typeof SCENES)[string],
  (typeof SCENES)[string],
  (typeof SCENES)[string],
];

test("by latency, a slow route is left for as long as it is slow, and routes of one speed do not take turns", () => {
  const [usual, best] = [simulate("priority", SLOW), simulate("latency", SLOW)];
  expect(best.p99Ms).toBeLessThan(usual.p99Ms / 4);
  expect(best.p50Ms).toBeLessThan(usual.p50Ms * 1.1);
  // Away and back.
  expect(best.changes).toBe(2);
  expect(simulate("latency", ALIKE).changes).toBeLessThan(10);
});

test("by cost, the cheapest gets all, and by load, each gets what it has room for", () => {
  expect(simulate("cost", ALIKE)).toMatchObject({ cost: 1, changes: 0, shares: { c: 1 } });
  const busy = simulate("busy", FULL);
  expect(busy.p99Ms).toBeLessThan(simulate("priority", FULL).p99Ms / 100);
  for (const share of Object.values(busy.shares)) expect(share).toBeWithin(0.25, 0.42);
});

const route = (provider: string, choice?: RouteChoice, priority = 1): ModelRoute => ({
  ...{ provider, model: "m", priority, weight: 1 },
  ...(choice === undefined || choice === "priority" ? {} : { choice }),
});

test.each([
  [undefined, ["a 1", "b 2", "c 3", "d 4"]],
  ["priority", ["a 1", "b 2", "c 3", "d 4"]],
  ["latency", ["a 1 latency", "b 2 latency", "c 3 latency", "d 4 latency"]],
  // Of equal prices the first by priority; an unknown price is not taken for a low one.
  ["cost", ["b 1 cost", "a 2 cost", "c 3 cost", "d 4 cost"]],
] as const)("routes chosen by %s: %j", (choice, wanted) => {
  const prices: Readonly<Record<string, number>> = { a: 2, b: 1, c: 2 };
  const routes = ["a", "b", "c", "d"].map((provider, at) => route(provider, undefined, at + 1));
  const chosen = chosenBy(choice, routes, ({ provider }) => {
    const price = prices[provider];
    return price === undefined ? undefined : { input: price, output: price };
  });
  expect(chosen.map((one) => [one.provider, one.priority, one.choice].filter(Boolean).join(" "))).toEqual([...wanted]);
});

/** Scores at a time that the test sets; nothing is looked at by chance unless `chance` is 0. */
function scoresAt() {
  const state = { nowMs: 0, chance: 0.99 };
  return { state, ...createRouteScores({ now: () => state.nowMs, random: () => state.chance }) };
}

test("what failed counts as slow, what is old does not count, and what is unknown is looked at now and then", () => {
  const { state, order, answered, failed } = scoresAt();
  const [a, b] = [route("a", "latency", 1), route("b", "latency", 2)];
  const first = () => {
    const { routes, why } = order([a, b], true);
    return `${routes.map(({ provider }) => provider).join("")} ${why}`;
  };
  expect(first()).toBe("ab latency: unknown");
  for (let n = 0; n < 3; n++) answered(a, true, 100);
  expect(first()).toBe("ab latency: 100 ms");
  state.chance = 0;
  expect(first()).toBe("ba latency: measured");
  state.chance = 0.99;
  for (let n = 0; n < 3; n++) answered(b, true, 85);
  // Not so much faster that it takes over.
  expect(first()).toBe("ab latency: 100 ms");
  for (let n = 0; n < 4; n++) answered(b, true, 79);
  expect(first()).toBe("ba latency: 79 ms");
  for (let n = 0; n < 8; n++) failed(b, true);
  expect(first()).toBe("ab latency: 100 ms");
  // Whole answers are measured apart.
  expect(order([a, b], false).why).toBe("latency: unknown");
  state.nowMs = 5 * 60_000;
  expect(first()).toBe("ab latency: unknown");
});

test("a call counts as long as it is in progress", () => {
  const { order, begun } = scoresAt();
  const [a, b] = [route("a", "busy", 1), route("b", "busy", 2)];
  const first = () => order([a, b], true).routes[0]?.provider;
  expect(first()).toBe("a");
  const ends = [begun(a), begun(a), begun(b)];
  expect([first(), order([a, b], true).why]).toEqual(["b", "busy: 1"]);
  ends[0]?.();
  // Of equal ones the first by priority.
  expect(first()).toBe("a");
  for (const end of ends.slice(1)) end();
  expect(order([a, b], true).why).toBe("busy: 0");
});
