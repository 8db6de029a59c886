import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FakeClock } from "../../src/base/clock.ts";
import { Breaker, Breakers, outcomeOfFault, type Permit } from "../../src/upstream/breaker.ts";

const SETTINGS = { failures: 3, windowMs: 1000, cooldownMs: 500 };

function setup() {
  const clock = new FakeClock();
  const states: string[] = [];
  const breaker = new Breaker(SETTINGS, clock, (state) => states.push(state));
  const fail = (times = 1) => {
    for (let i = 0; i < times; i++) breaker.acquire()?.settle("failed");
  };
  return { clock, states, breaker, fail };
}

test("opens on the n-th failure within the window, and not before", () => {
  const { breaker, fail } = setup();
  fail(2);
  expect(breaker.state).toBe("closed");
  fail();
  expect(breaker.state).toBe("open");
  expect(breaker.acquire()).toBeUndefined();
});

test("as many failures as are configured, however many", () => {
  const breaker = new Breaker({ ...SETTINGS, failures: 10_000 }, new FakeClock());
  for (let i = 0; i < 9_999; i++) breaker.acquire()?.settle("failed");
  expect(breaker.state).toBe("closed");
  breaker.acquire()?.settle("failed");
  expect(breaker.state).toBe("open");
});

test("failures older than the window do not count", () => {
  const { breaker, clock, fail } = setup();
  fail(2);
  clock.advance(1000);
  fail(2);
  expect(breaker.snapshot()).toEqual({ state: "closed", failures: 2, openedAtMs: null });
});

test("successes and calls without a result neither open it nor clear failures", () => {
  const { breaker, fail } = setup();
  fail(2);
  for (const outcome of ["ok", "unknown"] as const) breaker.acquire()?.settle(outcome);
  expect(breaker.snapshot().failures).toBe(2);
  fail();
  expect(breaker.state).toBe("open");
});

describe("half open", () => {
  const opened = () => {
    const world = setup();
    world.fail(3);
    world.clock.advance(SETTINGS.cooldownMs);
    return world;
  };

  test("one probe at a time", () => {
    const { breaker } = opened();
    expect(breaker.state).toBe("half_open");
    const probe = breaker.acquire();
    expect(probe).toBeDefined();
    expect(breaker.refuses).toBe(true);
    expect(breaker.acquire()).toBeUndefined();
  });

  test("a successful probe closes it and clears failures", () => {
    const { breaker, states } = opened();
    breaker.acquire()?.settle("ok");
    expect(breaker.snapshot()).toEqual({ state: "closed", failures: 0, openedAtMs: null });
    expect(states).toEqual(["open", "half_open", "closed"]);
  });

  test("a failed probe opens it for another cooldown", () => {
    const { breaker, clock } = opened();
    breaker.acquire()?.settle("failed");
    expect(breaker.state).toBe("open");
    expect(breaker.waitMs()).toBe(SETTINGS.cooldownMs);
    clock.advance(SETTINGS.cooldownMs);
    expect(breaker.waitMs()).toBe(0);
    expect(breaker.acquire()).toBeDefined();
  });

  test("after a probe without a result the next call may probe", () => {
    const { breaker } = opened();
    breaker.acquire()?.settle("unknown");
    expect(breaker.state).toBe("half_open");
    expect(breaker.acquire()).toBeDefined();
  });

  test("a probe that is never settled is given up eventually, and a later result is ignored", () => {
    const { breaker, clock } = opened();
    const lost = breaker.acquire();
    clock.advance(10 * 60_000);
    const probe = breaker.acquire();
    expect(probe).toBeDefined();
    lost?.settle("failed");
    expect(breaker.state).toBe("half_open");
    probe?.settle("ok");
    expect(breaker.state).toBe("closed");
  });

  test("calls from before the opening are ignored", () => {
    const { breaker, clock, fail } = setup();
    const stale = [breaker.acquire(), breaker.acquire(), breaker.acquire(), breaker.acquire()];
    fail(3);
    stale[0]?.settle("failed");
    clock.advance(SETTINGS.cooldownMs);
    stale[1]?.settle("ok");
    expect(breaker.state).toBe("half_open");
    breaker.acquire()?.settle("ok");
    for (const permit of stale) permit?.settle("failed");
    expect(breaker.snapshot()).toEqual({ state: "closed", failures: 0, openedAtMs: null });
  });
});

test("a permit counts once", () => {
  const { breaker } = setup();
  const permit = breaker.acquire();
  for (let i = 0; i < 10; i++) permit?.settle("failed");
  expect(breaker.snapshot().failures).toBe(1);
});

test.each([
  ["unavailable", "failed"],
  ["timeout", "failed"],
  ["auth", "ok"],
  ["bad_request", "ok"],
  ["context_length", "ok"],
  ["model_missing", "ok"],
  ["rate_limited", "ok"],
] as const)("a %s fault is %s for the breaker", (kind, outcome) => expect(outcomeOfFault(kind)).toBe(outcome));

test("model: never more than one call through while not closed, and open for exactly the cooldown", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("acquire" as const) }),
    fc.record({ do: fc.constant("settle" as const), at: fc.nat(20), how: fc.constantFrom("ok", "failed", "unknown") }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 700 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { breaker, clock } = setup();
      const held: Permit[] = [];
      let probes = 0;
      for (const move of steps) {
        const before = breaker.snapshot();
        if (move.do === "wait") clock.advance(move.ms);
        else if (move.do === "acquire") {
          const permit = breaker.acquire();
          if (before.state === "open") expect(permit).toBeUndefined();
          if (before.state === "closed") expect(permit).toBeDefined();
          if (permit !== undefined && before.state === "half_open") {
            expect(++probes).toBe(1);
            held.push({
              settle(how) {
                probes--;
                permit.settle(how);
              },
            });
          } else if (permit !== undefined) held.push(permit);
        } else {
          const [permit] = held.splice(move.at % Math.max(1, held.length), 1);
          permit?.settle(move.how as "ok");
        }
        const { state, failures, openedAtMs } = breaker.snapshot();
        if (state === "open") expect(clock.now() - (openedAtMs ?? 0)).toBeLessThan(SETTINGS.cooldownMs);
        if (state === "closed") expect(failures).toBeLessThan(SETTINGS.failures);
      }
    }),
  );
});

test("a new configuration keeps the state of known providers", () => {
  const clock = new FakeClock();
  const seen: string[] = [];
  const breakers = new Breakers(clock, (name, state) => seen.push(`${name} ${state}`));
  breakers.configure(new Map(Object.entries({ a: SETTINGS, b: SETTINGS })));
  for (let i = 0; i < 3; i++) breakers.get("a")?.acquire()?.settle("failed");
  breakers.configure(new Map(Object.entries({ a: { ...SETTINGS, cooldownMs: 9000 }, c: SETTINGS })));
  clock.advance(600);
  expect(Object.fromEntries([...breakers.snapshot()].map(([name, { state }]) => [name, state]))).toEqual({
    a: "open",
    c: "closed",
  });
  expect(breakers.get("b")).toBeUndefined();
  expect(seen).toEqual(["a open"]);
});
