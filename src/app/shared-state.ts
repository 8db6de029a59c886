// Opens the state that nodes share, in memory or on Redis, as configured. Wiring only.

import type { Clock } from "../base/clock.ts";
import { type Flights, ownFlights } from "../base/flights.ts";
import { uuid } from "../base/ids.ts";
import { lazily } from "../base/lazily.ts";
import type { Config } from "../config/schema.ts";
import type { HostLeases } from "../shared-state/host-leases.ts";
import { type MemoryRateLimiter, memoryRateLimiter, type RateLimiter } from "../shared-state/rate-windows.ts";
import type { SharedAnswers } from "../shared-state/redis-answers.ts";
import type { SharedBreakers } from "../shared-state/redis-breakers.ts";
import type { RequestSlots } from "../shared-state/request-slots.ts";
import { memoryReservations, type Reservations, type Unwritten } from "../shared-state/reservations.ts";
import type { ThrottleSharing } from "../shared-state/sign-in-throttle.ts";
import type { TokenWindows } from "../shared-state/token-windows.ts";
import type { SubsystemState } from "../status/health.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export interface SharedStateDeps {
  config(): Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "gauge">;
  /** Live nodes, including this one. */
  liveNodes(): number;
  /** Cost of ended requests that is not written yet. */
  readonly unwritten: Unwritten;
}

/** The state that nodes share. */
export interface SharedState {
  readonly limiter: RateLimiter;
  readonly slots: RequestSlots;
  readonly tokens: TokenWindows;
  readonly reservations: Reservations;
  readonly flights: Flights;
  /** Undefined if nothing is shared: each of them has its own in memory. */
  readonly breakers: SharedBreakers | undefined;
  readonly hosts: HostLeases | undefined;
  readonly addresses: RateLimiter | undefined;
  readonly attempts: ThrottleSharing | undefined;
  readonly answers: SharedAnswers | undefined;
  /** Windows that only this process has: they are stored over a restart. Undefined if Redis stores them. */
  readonly ownWindows: MemoryRateLimiter | undefined;
  /** Its part of `/health`; undefined if nothing is shared. */
  readonly state: (() => SubsystemState) | undefined;
  stop(): Promise<void>;
}

/** A start waits at most this long for the first connection to succeed or fail. */
const START_MS = 2000;

const NOTHING_SHARED = {
  breakers: undefined,
  hosts: undefined,
  addresses: undefined,
  attempts: undefined,
  answers: undefined,
  state: undefined,
  stop: async () => undefined,
};

/** Loaded with the first request of a key that has a limit. */
const ownSlots = lazily(() => {
  const { memoryRequestSlots }: typeof import("../shared-state/request-slots.ts") =
    require("../shared-state/request-slots.ts");
  return memoryRequestSlots();
});

/** Loaded in the same way. */
function ownTokens(clock: Clock): TokenWindows {
  const windows = lazily(() => tokenWindows()(clock));
  return {
    take: (limits, wish) => windows().take(limits, wish),
    count: (limits, tokens) => windows().count(limits, tokens),
  };
}

const tokenWindows = lazily(() => {
  const { memoryTokenWindows }: typeof import("../shared-state/token-windows.ts") =
    require("../shared-state/token-windows.ts");
  return memoryTokenWindows;
});

/** Opens it. An unreachable Redis is retried forever, and logged. */
export async function openSharedState(deps: SharedStateDeps): Promise<SharedState> {
  const { config, clock, log, metrics } = deps;
  const local = memoryRateLimiter(clock);
  const { url } = config().redis;
  if (url === "") {
    return {
      limiter: local,
      slots: { take: (limits) => ownSlots().take(limits) },
      tokens: ownTokens(clock),
      reservations: memoryReservations(),
      flights: ownFlights,
      ownWindows: local,
      ...NOTHING_SHARED,
    };
  }
  // Loaded only if used: most programs run alone.
  const [
    { connectRedis },
    { sharedRateLimiter },
    { sharedRequestSlots },
    { sharedTokenWindows },
    { sharedReservations },
    { sharedFlights },
    { sharedBreakers },
    { sharedHostLeases },
    { sharedThrottle },
    { sharedAnswers },
  ] = await Promise.all([
    import("../shared-state/redis.ts"),
    import("../shared-state/redis-rate-windows.ts"),
    import("../shared-state/redis-request-slots.ts"),
    import("../shared-state/redis-token-windows.ts"),
    import("../shared-state/redis-reservations.ts"),
    import("../shared-state/redis-flights.ts"),
    import("../shared-state/redis-breakers.ts"),
    import("../shared-state/redis-host-leases.ts"),
    import("../shared-state/redis-sign-in-throttle.ts"),
    import("../shared-state/redis-answers.ts"),
  ]);
  const redis = connectRedis({ url, ...toldTo(log, () => config().redis.onFailure) });
  await Promise.race([redis.settled(), Bun.sleep(START_MS)]);
  const mode = () => (redis.isServing() ? "shared" : config().redis.onFailure);
  addMode(metrics, mode);
  const onFailure = () => config().redis.onFailure;
  const node = uuid();
  const common = { redis, onFailure, liveNodes: deps.liveNodes, node };
  const reservations = sharedReservations({ ...common, unwritten: deps.unwritten });
  const breakers = sharedBreakers(common);
  const hosts = sharedHostLeases(common);
  const now = () => clock.now();
  const limiter = sharedRateLimiter({ ...common, local, now });
  const slots = sharedRequestSlots({ ...common, now });
  const tokens = sharedTokenWindows({ ...common, now, local: tokenWindows()(clock) });
  return {
    limiter,
    slots,
    tokens,
    addresses: limiter,
    reservations,
    flights: sharedFlights(common),
    breakers,
    hosts,
    answers: sharedAnswers({ redis, now, bytesMax: () => config().cache.maxSizeBytes }),
    attempts: (what, own) => sharedThrottle({ ...common, ...own, what }),
    ownWindows: undefined,
    state: () => ({ status: redis.isServing() ? "ok" : "degraded", mode: mode() }),
    async stop() {
      breakers.stop();
      hosts.stop();
      reservations.stop();
      slots.stop();
      tokens.stop();
      await redis.close();
    },
  };
}

/** Logs what becomes of the connection. */
function toldTo(log: Logger, mode: () => string) {
  return {
    changed: (isUp: boolean) =>
      isUp
        ? log.info("limits are shared through Redis")
        : log.warn("Redis cannot be reached; limits are kept by this node alone", { mode: mode() }),
    problem: (error: unknown) => log.warn("the connection to Redis failed; it will be tried again", { error }),
    refusing: (isRefusing: boolean, error?: unknown) =>
      isRefusing
        ? log.warn("Redis answers with errors; limits are kept by this node alone", { mode: mode(), error })
        : log.info("Redis answers without errors again; limits are shared through it"),
  };
}

function addMode(metrics: SharedStateDeps["metrics"], mode: () => string): void {
  metrics.gauge("sallyport_limiter_mode", "1 for the way in which limits are kept now.", ["mode"], () =>
    ["shared", "local", "closed"].map((one) => [[one], one === mode() ? 1 : 0]),
  );
}
