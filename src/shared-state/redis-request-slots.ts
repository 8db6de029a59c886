// Slots that all nodes share: an entry on Redis for each request in progress on any node. While Redis cannot be reached, a node
// admits its share of the limit, or nothing.

import { ApiError } from "../base/errors.ts";
import { createOwnHolds, HOLD_MS, type Hold, RENEW_MS } from "./own-holds.ts";
import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { BORN, BORN_SCRIPT, createDoubt } from "./redis-doubt.ts";
import { redisScript } from "./redis-script.ts";
import {
  type LimitReached,
  memoryRequestSlots,
  type RequestSlots,
  type ScopedLimit,
  type Slot,
} from "./request-slots.ts";

/** What slots need to be shared with other nodes. */
export interface SharedSlotsOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run" | "whenUp">;
  /** `local`: each node admits its share; `closed`: none is admitted. */
  onFailure(): "local" | "closed";
  /** The number of live nodes, including this one. */
  liveNodes(): number;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
  /** The current time, in milliseconds. */
  now(): number;
}

/** Slots with a timer that renews this node's own. */
export interface SharedRequestSlots extends RequestSlots {
  stop(): void;
}

/** After this time every node has renewed its entries. */
const DOUBT_MS = RENEW_MS + 5000;
const RETRY_AFTER_SECONDS = 5;
/** A refusal is looked at again after these times, as the end of a request may reach its client before it reaches Redis. */
const LOOK_AGAIN_MS = [20, 60];

/** Begins a script. */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function put(key, entry)
  redis.call('ZADD', key, now + ${HOLD_MS}, entry)
  redis.call('PEXPIRE', key, ${2 * HOLD_MS})
end
`;

/**
 * KEYS: one set of entries for each limit, the time of birth. ARGV: the new entry, then each limit. Gives the number of the limit
 * that is reached (0: none, the entry was added to all), born.
 */
const TAKE = redisScript(`${COMMON}${BORN_SCRIPT}
local reached = 0
for at = 1, #KEYS - 1 do
  redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now)
  if reached == 0 and redis.call('ZCARD', KEYS[at]) >= tonumber(ARGV[1 + at]) then reached = at end
end
if reached == 0 then
  for at = 1, #KEYS - 1 do put(KEYS[at], ARGV[1]) end
end
return {reached, born, KEYS[1]}
`);

/** KEYS: sets of entries. ARGV: an entry. Extends its expiry; if it was lost it is added again. */
const RENEW = redisScript(`${COMMON}
for _, key in ipairs(KEYS) do put(key, ARGV[1]) end
return 0
`);

/** KEYS: sets of entries. ARGV: an entry that has ended. */
const LEAVE = redisScript(`
for _, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[1]) end
return 0
`);

/** Slots on Redis. Call `stop` at the end. */
export function sharedRequestSlots(options: SharedSlotsOptions): SharedRequestSlots {
  const { redis, node } = options;
  const local = memoryRequestSlots();
  const holds = createOwnHolds(redis, RENEW);
  const doubt = createDoubt(options.now, DOUBT_MS);
  let count = 0;

  /** Decides by this node's share, which others cannot use up. */
  const byShare = (limits: readonly ScopedLimit[]): Slot | LimitReached => {
    const nodes = Math.max(1, options.liveNodes());
    return local.take(limits, (limit) => Math.max(1, Math.floor(limit / nodes)));
  };

  /** Decides without Redis, which may know of the request nevertheless. */
  const alone = (limits: readonly ScopedLimit[]): Slot | LimitReached => {
    if (options.onFailure() === "local") return byShare(limits);
    throw new ApiError("server_busy", "The requests at once cannot be counted at the moment. Try again shortly.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };

  /** Gives undefined if looking again may change the answer. */
  const ask = async (
    limits: readonly ScopedLimit[],
    { keys, args }: Hold,
    isLast: boolean,
  ): Promise<Slot | LimitReached | undefined> => {
    if (!redis.isUp()) return alone(limits);
    const wish = { keys: [...keys, BORN], args: [...args, ...limits.map(({ limit }) => limit)] };
    const reply = await askRedis(redis, TAKE, wish).catch(() => undefined);
    if (reply === undefined) return alone(limits);
    doubt.notice(reply[1]);
    const reached = limits[Number(reply[0]) - 1];
    if (reached !== undefined) return isLast ? { reached } : undefined;
    // Requests of other nodes may not be counted there yet.
    return doubt.isOpen() ? byShare(limits) : local.hold(limits);
  };

  const look = async (limits: readonly ScopedLimit[], hold: Hold): Promise<Slot | LimitReached> => {
    for (let at = 0; ; at++) {
      const pauseMs = LOOK_AGAIN_MS[at];
      const found = await ask(limits, hold, pauseMs === undefined);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };

  return {
    async take(limits) {
      count += 1;
      const hold: Hold = { keys: limits.map(({ id }) => `${KEY_PREFIX}slots:${id}`), args: [`${node}:${count}`] };
      const leave = () => holds.tell(LEAVE, hold);
      let found: Slot | LimitReached;
      try {
        found = await look(limits, hold);
      } catch (error) {
        leave();
        throw error;
      }
      if ("reached" in found) {
        leave();
        return found;
      }
      const own = found;
      holds.add(hold);
      return {
        release() {
          if (!holds.remove(hold)) return;
          own.release();
          leave();
        },
      };
    },
    stop: () => holds.stop(),
  };
}
