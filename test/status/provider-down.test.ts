import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { createProviderDown } from "../../src/status/provider-down.ts";

type State = "closed" | "open" | "half_open";
type Provider = readonly [state: State, ...models: State[]];

/** What is noticed after each step: `[milliseconds, states by provider, those whose failure is over]`. */
function noticed(steps: readonly (readonly [ms: number, Readonly<Record<string, Provider>>, string?])[]) {
  const clock = new FakeClock();
  const startMs = clock.now();
  let now: Readonly<Record<string, Provider>> = {};
  let over = "";
  const told: string[] = [];
  const watch = createProviderDown({
    clock,
    afterMs: () => 1000,
    windowMs: 3000,
    snapshot: () =>
      new Map(
        Object.entries(now).map(([name, [state, ...models]]) => [
          name,
          { state, models: new Map(models.map((one, at) => [`m${at}`, { state: one }])) },
        ]),
      ),
    isOver: (provider) => over === provider,
    down: (provider, sinceMs) => told.push(`${provider} since ${sinceMs - startMs}`),
  });
  for (const [ms, states, ended = ""] of steps) {
    now = states;
    over = ended;
    watch.look();
    clock.advance(ms);
  }
  return told;
}

test.each([
  [
    "one that fails for long enough, once",
    [
      [999, { p: ["open"] }],
      [1, { p: ["open"] }],
      [5000, { p: ["open"] }],
      [0, { p: ["half_open"] }],
    ],
    ["p since 0"],
  ],
  [
    "not one that recovers between",
    [
      [999, { p: ["open"] }],
      [1, { p: ["closed"] }],
      [999, { p: ["open"] }],
      [0, { p: ["open"] }],
    ],
    [],
  ],
  [
    "again after it has recovered",
    [
      [1000, { p: ["open"] }],
      [3000, { p: ["open"] }],
      [0, { p: ["closed"] }],
      [1000, { p: ["open"] }],
      [0, { p: ["open"] }],
    ],
    ["p since 0", "p since 4000"],
  ],
  [
    "an outage that began soon after another one when the first is no longer news, if it lasts",
    [
      [1000, { p: ["open"], q: ["open"] }],
      [500, { p: ["open"], q: ["open"] }],
      [0, { p: ["closed"], q: ["closed"] }],
      [1500, { p: ["open"], q: ["open"] }],
      [999, { p: ["open"], q: ["open"] }],
      [1, { p: ["open"], q: ["closed"] }],
      [5000, { p: ["open"], q: ["closed"] }],
      [0, { p: ["open"], q: ["closed"] }],
    ],
    ["p since 0", "q since 0", "p since 1500"],
  ],
  [
    "not while one of its models answers",
    [
      [1000, { p: ["open", "open", "closed"] }],
      [0, { p: ["open", "open", "closed"] }],
    ],
    [],
  ],
  [
    "one whose models all fail, in different ways",
    [
      [1000, { p: ["open", "open", "half_open"] }],
      [0, { p: ["open", "open", "half_open"] }],
    ],
    ["p since 0"],
  ],
  [
    "not one that has answered since",
    [
      [1000, { p: ["open"] }],
      [0, { p: ["half_open"] }, "p"],
    ],
    [],
  ],
  [
    "each by itself, and none that was removed",
    [
      [500, { p: ["open"], q: ["open"] }],
      [500, { q: ["open"] }],
      [500, { p: ["open"], q: ["open"] }],
      [0, { p: ["open"], q: ["open"] }],
    ],
    ["q since 0"],
  ],
] as const)("providers that are down: %s", (_, steps, told) => {
  expect(noticed(steps)).toEqual([...told]);
});
