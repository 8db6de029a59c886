// A machine's clock is set back by hours. What refuses or waits for a while must not do so until the clock has caught up.

import { describe, expect, test } from "bun:test";
import { FakeClock, ForwardTime } from "../../src/base/clock.ts";
import { Suspensions } from "../../src/search/suspensions.ts";
import { memoryRateLimiter } from "../../src/shared-state/rate-windows.ts";
import { createThrottle } from "../../src/shared-state/sign-in-throttle.ts";
import { memoryTokenWindows } from "../../src/shared-state/token-windows.ts";
import { Breaker } from "../../src/upstream/breaker.ts";
import { RenewedToken } from "../../src/upstream/credentials/renewed-token.ts";
import { CredentialPool } from "../../src/upstream/provider.ts";

const HOURS_MS = 2 * 3_600_000;
const MINUTE_MS = 60_000;

/** Each makes a refusal of at most a minute; the answer says whether it still refuses. */
const REFUSALS: Readonly<Record<string, (clock: FakeClock) => () => boolean>> = {
  "a rate window": (clock) => {
    const limiter = memoryRateLimiter(clock);
    limiter.admit("key", 1);
    return () => !limiter.admit("key", 1).admitted;
  },
  "a rate window that a restart read": (clock) => {
    const limiter = memoryRateLimiter(clock);
    limiter.admit("key", 1);
    const saved = limiter.snapshot();
    clock.advance(-HOURS_MS);
    const next = memoryRateLimiter(clock);
    next.restore(saved);
    return () => !next.admit("key", 1).admitted;
  },
  "a window of tokens": (clock) => {
    const windows = memoryTokenWindows(clock);
    const limits = [{ id: "key", limit: 10, of: "key" as const }];
    const all = { least: 10, most: 10 };
    windows.take(limits, all).hold?.settle(10);
    return () => windows.take(limits, all).hold === undefined;
  },
  "tries at a sign-in": (clock) => {
    const throttle = createThrottle(clock, () => ({ failures: 1, windowMs: MINUTE_MS }));
    throttle.begin(["ada"]);
    return () => !throttle.begin(["ada"]).allowed;
  },
  "tries at a sign-in that a restart read": (clock) => {
    const limit = () => ({ failures: 1, windowMs: MINUTE_MS });
    const throttle = createThrottle(clock, limit);
    throttle.begin(["ada"]);
    const saved = Object.entries(throttle.snapshot());
    clock.advance(-HOURS_MS);
    const next = createThrottle(clock, limit);
    next.restore(saved);
    return () => !next.begin(["ada"]).allowed;
  },
  "a breaker": (clock) => {
    const breaker = new Breaker({ failures: 1, windowMs: 1000, cooldownMs: MINUTE_MS }, clock);
    breaker.acquire()?.settle("failed");
    return () => breaker.state === "open";
  },
  "a provider's key": (clock) => {
    const pool = new CredentialPool(["one"]);
    pool.rest("one", clock.now());
    return () => !pool.hasFresh(clock.now());
  },
  "a search engine": (clock) => {
    const suspensions = new Suspensions(clock);
    suspensions.failed("net", "rate_limited", MINUTE_MS);
    return () => suspensions.of("net") !== undefined;
  },
};

describe.each(Object.entries(REFUSALS))("%s", (_, make) => {
  test("lasts as long as before", () => {
    const clock = new FakeClock();
    const refuses = make(clock);
    expect(refuses()).toBe(true);
    clock.advance(-HOURS_MS);
    expect(refuses()).toBe(true);
    clock.advance(MINUTE_MS + 1000);
    expect(refuses()).toBe(false);
  });
});

test("a breaker tells when it opened in the time of day", () => {
  const clock = new FakeClock();
  const breaker = new Breaker({ failures: 1, windowMs: 1000, cooldownMs: MINUTE_MS }, clock);
  breaker.acquire()?.settle("failed");
  expect(breaker.snapshot().openedAtMs).toBe(clock.now());
  clock.advance(-HOURS_MS);
  expect(breaker.snapshot().openedAtMs).toBe(clock.now());
  clock.advance(MINUTE_MS);
  expect(breaker.snapshot().openedAtMs).toBe(clock.now() - MINUTE_MS);
});

test("a suspension tells until when in the time of day", () => {
  const clock = new FakeClock();
  const suspensions = new Suspensions(clock);
  suspensions.failed("net", "rate_limited", MINUTE_MS);
  expect(suspensions.of("net")?.untilMs).toBe(clock.now() + MINUTE_MS);
  clock.advance(-HOURS_MS);
  expect(suspensions.of("net")?.untilMs).toBe(clock.now() + MINUTE_MS);
});

test("a token is renewed when its own time is over", async () => {
  const clock = new FakeClock();
  let fetched = 0;
  const token = new RenewedToken(async () => ({ value: ++fetched, endsMs: clock.now() + MINUTE_MS }), clock);
  expect(await token.get()).toBe(1);
  clock.advance(-HOURS_MS);
  expect(await token.get()).toBe(1);
  clock.advance(MINUTE_MS + 1);
  expect(await token.get()).toBe(2);
  // And the next one, whose end was told by the clock that was set back, is kept as long.
  clock.advance(MINUTE_MS / 4);
  expect(await token.get()).toBe(2);
});

test("time goes on from where it was, and small corrections do not add up", () => {
  const time = new ForwardTime();
  expect([100_000, 40_000, 41_000, 41_500].map((ms) => time.at(ms))).toEqual([100_000, 100_000, 101_000, 101_500]);
  const steady = new ForwardTime();
  for (let ms = 0; ms < 100_000; ms += 100) {
    steady.at(ms);
    steady.at(ms - 50);
  }
  expect(steady.at(100_000)).toBe(100_000);
});
