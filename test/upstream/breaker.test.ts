import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FakeClock } from "../../src/base/clock.ts";
import { Breaker, type CallOutcome, outcomeOfFault, type Permit } from "../../src/upstream/breaker.ts";
import { Breakers } from "../../src/upstream/breakers.ts";

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
    expect(breaker.refuses()).toBe(true);
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
] as const)("a %s fault is %s for the breaker", (kind, outcome) => expect(outcomeOfFault({ kind })).toBe(outcome));

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
  for (let i = 0; i < 3; i++) settled(breakers, "a", "m", "failed");
  breakers.configure(new Map(Object.entries({ a: { ...SETTINGS, cooldownMs: 9000 }, c: SETTINGS })));
  clock.advance(600);
  expect(Object.fromEntries([...breakers.snapshot()].map(([name, { state }]) => [name, state]))).toEqual({
    a: "open",
    c: "closed",
  });
  expect(breakers.of("b", "m")).toBeUndefined();
  expect(seen).toEqual(["a open"]);
});

function settled(breakers: Breakers, provider: string, model: string, outcome: CallOutcome, account = "a"): boolean {
  const permit = breakers.of(provider, model)?.acquire(account);
  if (permit instanceof Promise) throw new Error("Nothing is shared.");
  permit?.settle(outcome);
  return permit !== undefined;
}

describe("several models and accounts", () => {
  function started() {
    const clock = new FakeClock();
    const breakers = new Breakers(clock);
    breakers.configure(new Map([["up", SETTINGS]]));
    const fail = (account: string, times = SETTINGS.failures, model = "m1") => {
      for (let i = 0; i < times; i++) settled(breakers, "up", model, "failed", account);
    };
    const may = (account: string, model = "m1") => breakers.of("up", model)?.refuses(account) === false;
    return { clock, breakers, fail, may };
  }

  test("failures of one model leave the others alone", () => {
    const { breakers, fail, may } = started();
    settled(breakers, "up", "m2", "ok");
    fail("a");
    expect([may("a"), may("a", "m2"), may("a", "m2")]).toEqual([false, true, true]);
    const { state, failures, models } = breakers.snapshot().get("up")!;
    expect([state, failures]).toEqual(["open", 3]);
    expect([...models].map(([name, one]) => [name, one.state])).toEqual([
      ["m2", "closed"],
      ["m1", "open"],
    ]);
  });

  test("failures to connect concern all models and accounts", () => {
    const { breakers, may } = started();
    for (let i = 0; i < SETTINGS.failures; i++) settled(breakers, "up", `m${i}`, "unreachable");
    expect([may("a", "m0"), may("b", "new")]).toEqual([false, false]);
    expect(breakers.snapshot().get("up")).toMatchObject({ state: "open" });
  });

  test("failures of one account open it for that account, and another's success shows that it is closed", () => {
    const { breakers, fail, may } = started();
    fail("bad");
    expect([may("bad"), may("good")]).toEqual([false, true]);
    expect(breakers.of("up", "m1")?.state).toBe("open");
    settled(breakers, "up", "m1", "ok", "good");
    expect([may("bad"), may("good")]).toEqual([false, true]);
    expect(breakers.of("up", "m1")?.state).toBe("closed");
    // A single failure beside successes is no outage.
    fail("good", 1);
    expect(may("good")).toBe(true);
    fail("good", SETTINGS.failures - 1);
    expect([may("bad"), may("good"), may("third")]).toEqual([false, false, false]);
  });

  test("a failure of another account opens it for all if nobody succeeds", () => {
    const { clock, breakers, fail, may } = started();
    settled(breakers, "up", "m1", "ok", "good");
    clock.advance(1);
    fail("bad");
    fail("good", 1);
    expect([may("good"), may("third")]).toEqual([false, false]);
  });

  test("one failure of another account whose calls succeed does not open it for all", () => {
    const { clock, breakers, fail, may } = started();
    fail("bad", 1);
    clock.advance(1);
    settled(breakers, "up", "m1", "ok", "good");
    fail("bad", SETTINGS.failures - 1);
    clock.advance(1);
    fail("good", 1);
    expect([may("bad"), may("good"), may("third")]).toEqual([false, true, true]);
  });

  test("failures of several accounts open it for all", () => {
    const { fail, may } = started();
    fail("a", 1);
    fail("b", 2);
    expect([may("a"), may("third")]).toEqual([false, false]);
  });

  test("after the cooldown the account probes", () => {
    const { clock, breakers, fail, may } = started();
    fail("bad");
    clock.advance(SETTINGS.cooldownMs);
    const probe = breakers.of("up", "m1")?.acquire("bad");
    expect([may("bad"), may("good")]).toEqual([false, true]);
    (probe as Permit).settle("ok");
    expect([may("bad"), breakers.of("up", "m1")?.state]).toEqual([true, "closed"]);
  });

  test("a breaker that nobody asks for a model does not use up the probe of the provider", () => {
    const { clock, breakers, fail } = started();
    for (let i = 0; i < SETTINGS.failures; i++) settled(breakers, "up", "m2", "unreachable");
    fail("a");
    clock.advance(SETTINGS.cooldownMs);
    expect(settled(breakers, "up", "m2", "ok")).toBe(true);
    expect(breakers.snapshot().get("up")).toMatchObject({ state: "closed" });
  });
});
