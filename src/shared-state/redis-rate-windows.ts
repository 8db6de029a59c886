// Rate windows that all nodes share: the sliding window of rate-windows.ts in one round trip, by Redis's own clock.
// Redis decides about every request, never a copy. While Redis cannot be reached, a node admits its share of the limit,
// or nothing.

import { ApiError } from "../base/errors.ts";
import {
  EXACT_LIMIT_MAX,
  type MemoryRateLimiter,
  type RateLimiter,
  SLICE_MS,
  type Verdict,
  WINDOW_MS,
} from "./rate-windows.ts";
import { askRedis, KEY_PREFIX, redisScript, type SharedRedis } from "./redis.ts";
import { BORN, BORN_SCRIPT, createDoubt } from "./redis-doubt.ts";

/** What a limiter needs to share windows with other nodes. */
export interface SharedLimiterOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  /** Counts this node's own requests, and decides while Redis cannot be reached. */
  readonly local: MemoryRateLimiter;
  /** `local`: each node admits its share; `closed`: none is admitted. */
  onFailure(): "local" | "closed";
  /** The number of live nodes, including this one. */
  liveNodes(): number;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
  /** The current time, in milliseconds. */
  now(): number;
}

const RETRY_AFTER_SECONDS = 5;

/**
 * KEYS: the window, the time of birth. ARGV: limit, a member that no other request has, "1" for slices.
 * Gives: admitted (1 or 0), how many are in the window now, milliseconds until the oldest leaves it (-1: it is empty), born.
 */
const ADMIT = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[1])
${BORN_SCRIPT}
local admitted, total, oldest = 0, 0, -1
if ARGV[3] == '1' then
  local key = KEYS[1] .. ':slices'
  local slice = math.floor(now / ${SLICE_MS})
  local first = tonumber(redis.call('HGET', key, 'first') or slice)
  total = tonumber(redis.call('HGET', key, 'total') or 0)
  if slice - first > ${2 * (WINDOW_MS / SLICE_MS)} then
    redis.call('DEL', key)
    first, total = slice, 0
  end
  while first < slice - ${WINDOW_MS / SLICE_MS} do
    total = total - tonumber(redis.call('HGET', key, first) or 0)
    redis.call('HDEL', key, first)
    first = first + 1
  end
  if total < limit then
    admitted = 1
    total = total + 1
    redis.call('HINCRBY', key, slice, 1)
  end
  redis.call('HSET', key, 'first', first, 'total', total)
  redis.call('PEXPIRE', key, ${2 * WINDOW_MS})
  if total > 0 then oldest = (first + 1) * ${SLICE_MS} + ${WINDOW_MS} - now end
else
  local key = KEYS[1]
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ${WINDOW_MS})
  total = redis.call('ZCARD', key)
  if total < limit then
    admitted = 1
    total = total + 1
    redis.call('ZADD', key, now, ARGV[2])
    redis.call('PEXPIRE', key, ${WINDOW_MS})
  end
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if head[2] then oldest = head[2] + ${WINDOW_MS} - now end
end
return {admitted, total, oldest, born, KEYS[1]}
`);

/** KEYS: the window. ARGV: the member of the request, "1" for slices, of which the newest gives it back. */
const TAKE_BACK = redisScript(`
if ARGV[2] == '1' then
  local key = KEYS[1] .. ':slices'
  if tonumber(redis.call('HGET', key, 'total') or 0) < 1 then return 0 end
  local time = redis.call('TIME')
  redis.call('HINCRBY', key, math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / ${SLICE_MS}), -1)
  redis.call('HINCRBY', key, 'total', -1)
  return 1
end
return redis.call('ZREM', KEYS[1], ARGV[1])
`);

/** A limiter whose windows are in Redis. */
export function sharedRateLimiter(options: SharedLimiterOptions): RateLimiter {
  const { redis, local, node } = options;
  let count = 0;
  const doubt = createDoubt(options.now, WINDOW_MS);

  const share = (limit: number) => Math.max(1, Math.floor(limit / Math.max(1, options.liveNodes())));

  const byShare = (key: string, limit: number): Verdict => ({ ...local.admit(key, share(limit)), limit });

  const alone = (key: string, limit: number): Verdict => {
    if (options.onFailure() === "local") return byShare(key, limit);
    throw new ApiError("server_busy", "The rate limit cannot be checked at the moment. Try again shortly.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };

  return {
    admit(key, limit) {
      if (!redis.isUp()) return alone(key, limit);
      if (doubt.isOpen()) {
        // Requests that this node admitted before Redis was emptied still count against its share.
        const own = byShare(key, limit);
        if (!own.admitted) return own;
      }
      count += 1;
      const slot = `${node}:${count}`;
      const args = [limit, slot, limit > EXACT_LIMIT_MAX ? 1 : 0];
      return askRedis(redis, ADMIT, { keys: [windowOf(key), BORN], args }).then(
        (reply) => {
          const { verdict, since } = read(reply, limit, slot);
          const inDoubt = doubt.isOpen();
          doubt.notice(since);
          if (verdict.admitted && !inDoubt) local.count(key, limit);
          return verdict;
        },
        () => alone(key, limit),
      );
    },
    takeBack(key, verdict) {
      const own = local.takeBack(key, verdict);
      if (verdict.slot === undefined) return own;
      const args = [verdict.slot, verdict.limit > EXACT_LIMIT_MAX ? 1 : 0];
      // If Redis is lost meanwhile the slot leaves the window by itself, within a minute.
      return askRedis(redis, TAKE_BACK, { keys: [windowOf(key)], args }).then(
        () => undefined,
        () => undefined,
      );
    },
  };
}

const windowOf = (key: string) => `${KEY_PREFIX}rate:${key}`;

function read(
  [admitted, total, oldestMs, since]: unknown[],
  limit: number,
  slot: string,
): { verdict: Verdict; since: string } {
  return {
    since: String(since),
    verdict: {
      slot,
      admitted: admitted === 1,
      limit,
      remaining: Math.max(0, limit - Number(total)),
      resetSeconds: Number(oldestMs) < 0 ? 0 : Math.max(1, Math.ceil(Number(oldestMs) / 1000)),
    },
  };
}
