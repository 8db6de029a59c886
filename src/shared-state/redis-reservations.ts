// Reservations that all nodes share: the possible cost of requests in progress on any node. Each is a separate entry
// that expires, so that a node that crashes frees its reservations. While Redis cannot be reached, each node may spend
// its share.

import { ApiError } from "../base/errors.ts";
import { askRedis, KEY_PREFIX, type RedisScript, redisScript, type SharedRedis } from "./redis.ts";
import { type Budget, type BudgetRefusal, type Hold, memoryReservations, type Reservations } from "./reservations.ts";

/** What reservations need to be shared with other nodes. */
export interface SharedReservationsOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  /** `local`: each node spends its share; `closed`: requests with a budget are refused. */
  onFailure(): "local" | "closed";
  /** The number of live nodes, including this one. */
  liveNodes(): number;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
}

/** Reservations with a timer that renews this node's own. */
export interface SharedReservations extends Reservations {
  stop(): void;
}

/** The reservations of a node that has crashed expire after this time. */
const EXPIRY_MS = 120_000;
const RENEW_MS = 40_000;
/**
 * A delay before an entry is removed: a request that another node is checking may not have read the recorded cost yet.
 */
const RELEASE_AFTER_MS = 1000;
const RETRY_AFTER_SECONDS = 5;
const KEY = `${KEY_PREFIX}reserved:`;

/**
 * KEYS: one set of entries for each budget. ARGV: the new entry, micro-dollars, the entry that does not count, then what is left
 * of each budget. An entry ends in its amount. Gives 0 when all are reserved, else the first budget that has no room as a
 * positive number, or as a negative one where nothing is left of it and no other request is in progress.
 */
const RESERVE = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = tonumber(ARGV[2])
local refused = 0
for at, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local held, requests = 0, 0
  for _, entry in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if entry ~= ARGV[3] then
      held = held + tonumber(string.match(entry, '%d+$'))
      requests = requests + 1
    end
  end
  local left = tonumber(ARGV[3 + at])
  if left <= 0 and requests == 0 then return {-at, KEYS[1]} end
  local fits = left > 0 and (micros == 0 or requests == 0 or held + micros <= left)
  if refused == 0 and not fits then refused = at end
end
if refused > 0 then return {refused, KEYS[1]} end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ${EXPIRY_MS}, ARGV[1])
  redis.call('PEXPIRE', key, ${2 * EXPIRY_MS})
end
return {0, KEYS[1]}
`);

/**
 * KEYS: sets of entries. ARGV: an entry for each of them. Extends their expiry; an entry that was lost is added again.
 */
const RENEW = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ${EXPIRY_MS}, ARGV[at])
  redis.call('PEXPIRE', key, ${2 * EXPIRY_MS})
end
return 0
`);

const RELEASE = redisScript("for at, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[at]) end return 0");

/** The entries that one request has on Redis. */
interface Entry {
  readonly name: string;
  readonly keys: readonly string[];
}

/** The entries of this node's requests in progress: renewed, and removed when the last holder has released them. */
class OwnEntries {
  readonly #redis: Pick<SharedRedis, "run">;
  readonly #open = new Set<Entry>();
  readonly #of = new WeakMap<Hold, Entry>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(redis: Pick<SharedRedis, "run">) {
    this.#redis = redis;
    this.#timer = setInterval(() => {
      // A failed renewal is repeated at the next interval, long before the entry expires.
      for (const entry of this.#open) this.#tell(RENEW, entry);
    }, RENEW_MS);
    this.#timer.unref();
  }

  /** The name of the entry behind a reservation; "" if it is not on Redis. */
  nameOf(hold: Hold | undefined): string {
    return (hold === undefined ? undefined : this.#of.get(hold)?.name) ?? "";
  }

  /** The reservation, which from now on removes its entry too when it ends. */
  track(hold: Hold, entry: Entry): Hold {
    this.#open.add(entry);
    return this.#tracked(hold, entry);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tracked(hold: Hold, entry: Entry): Hold {
    const one: Hold = {
      held: () => hold.held(),
      release: () => {
        hold.release();
        if (hold.held() === undefined) this.#end(entry);
      },
      share: () => this.#tracked(hold.share(), entry),
    };
    this.#of.set(one, entry);
    return one;
  }

  #end(entry: Entry): void {
    if (this.#open.delete(entry)) setTimeout(() => this.#tell(RELEASE, entry), RELEASE_AFTER_MS).unref();
  }

  #tell(script: RedisScript, { name, keys }: Entry): void {
    const names = keys.map(() => name);
    // An entry that is neither renewed nor removed expires.
    this.#redis.run(script, keys, names).catch(() => undefined);
  }
}

/** Reservations on Redis. Call `stop` at the end. */
export function sharedReservations(options: SharedReservationsOptions): SharedReservations {
  const { redis, node } = options;
  const local = memoryReservations();
  const entries = new OwnEntries(redis);
  let count = 0;

  const share = (budget: Budget): Budget => ({
    ...budget,
    leftMicros: () => Math.floor(budget.leftMicros() / Math.max(1, options.liveNodes())),
  });

  /** Decides without Redis: by this node's share, or by refusing the request. */
  const alone = (budgets: readonly Budget[], micros: number, within?: Hold): Promise<Hold | BudgetRefusal> => {
    if (options.onFailure() === "local") return local.reserve(budgets.map(share), micros, within);
    throw new ApiError("server_busy", "Budgets cannot be checked at the moment. Try again shortly.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };

  return {
    async reserve(budgets, cost, within) {
      const micros = Math.ceil(cost);
      if (!redis.isUp()) return await alone(budgets, micros, within);
      // Other nodes spend too, so this node's figures may be outdated.
      await Promise.all(budgets.map((budget) => budget.refresh?.()));
      count += 1;
      const entry: Entry = { name: `${node}:${count}:${micros}`, keys: budgets.map(({ id }) => KEY + id) };
      const left = budgets.map((budget) => Math.floor(budget.leftMicros()));
      const args = [entry.name, micros, entries.nameOf(within), ...left];
      let reply: unknown[];
      try {
        reply = await askRedis(redis, RESERVE, { keys: entry.keys, args });
      } catch {
        // It may be reserved nevertheless, so it is released; if this does not reach Redis either, it expires.
        void redis
          .run(
            RELEASE,
            entry.keys,
            entry.keys.map(() => entry.name),
          )
          .catch(() => undefined);
        return await alone(budgets, micros, within);
      }
      const refused = Number(reply[0]);
      const budget = budgets[Math.abs(refused) - 1];
      if (budget !== undefined) return { budget, why: refused < 0 ? "spent" : "in_use" };
      return entries.track(local.hold(budgets, micros), entry);
    },
    refusal: (budgets) => local.refusal(budgets),
    stop: () => entries.stop(),
  };
}
