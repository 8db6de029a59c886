// Counters of tries that nodes share. This node's own tries are counted here too: what they refuse needs no round trip, and
// they still count when Redis cannot be reached or was emptied.

import { sha256Hex } from "../base/ids.ts";
import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { redisScript } from "./redis-script.ts";
import type { LocalThrottle, SignInThrottle, ThrottleLimit } from "./sign-in-throttle.ts";

/** What one set of counters needs to be shared. */
export interface SharedThrottleOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  /** Counts this node's own tries. */
  readonly local: Pick<LocalThrottle, "begin">;
  /** Separates these counters from others. */
  readonly what: string;
  limit(): ThrottleLimit;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
}

/**
 * KEYS: the tries of each name. ARGV: a member that no other try has, how many may count, milliseconds. Gives 0 if the try is
 * counted, else milliseconds until one may be.
 */
const BEGIN = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local free = 0
for _, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  local blocking = redis.call('ZRANGE', key, -most, -most, 'WITHSCORES')
  if blocking[2] then free = math.max(free, blocking[2] + window - now) end
end
if free == 0 then
  for _, key in ipairs(KEYS) do
    redis.call('ZADD', key, now, ARGV[1])
    redis.call('PEXPIRE', key, window)
  end
end
return {free, KEYS[1]}
`);

const UNCOUNT = redisScript("for _, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[1]) end return 0");

/** Counters on Redis. Their tries never fail because of Redis. */
export function sharedThrottle({ redis, local, what, limit, node }: SharedThrottleOptions): SignInThrottle {
  let count = 0;
  return {
    begin(names) {
      const own = local.begin(names);
      if (!own.allowed || !redis.isUp()) return own;
      const { failures, windowMs } = limit();
      count += 1;
      const member = `${node}:${count}`;
      // Names are addresses of mail and of the network: only their hashes leave this process.
      const keys = names.map((name) => `${KEY_PREFIX}tries:${what}:${sha256Hex(name)}`);
      const uncount = () => {
        own.uncount();
        // A try that cannot be taken back expires.
        redis.run(UNCOUNT, keys, [member]).catch(() => undefined);
      };
      return askRedis(redis, BEGIN, { keys, args: [member, failures, windowMs] }).then(
        ([waitMs]) => {
          if (Number(waitMs) === 0) return { allowed: true, uncount };
          own.uncount();
          return { allowed: false, retryAfterSeconds: Number(waitMs) / 1000 };
        },
        () => ({ allowed: true, uncount }),
      );
    },
  };
}
