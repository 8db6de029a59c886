// Turns at hosts through Redis, by its clock: one call takes a turn or says when to ask again. A node that crashed frees its
// turns by their expiry.

import type { HostTurns } from "./host-turns.ts";
import { askRedis, KEY_PREFIX, redisScript, type SharedRedis } from "./redis.ts";

/** What sharing turns needs. */
export interface SharedHostTurnsOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
}

/** No request to a host takes longer. */
const TURN_MS_MAX = 300_000;
/** When a turn may become free is not known, so it is asked for again. */
const BUSY_MS = 100;
/** A turn that was not used makes the next one free earlier, so a long wait is asked for again. */
const WAIT_MS_MAX = 2000;

/**
 * KEYS: the turns taken, the last start. ARGV: a member that no other turn has, milliseconds between starts, turns at once.
 * The last start is written with the time that the host demanded after it. Gives 0 for a turn, else milliseconds to wait.
 */
const TAKE = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local delay = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return {${BUSY_MS}, KEYS[1]} end
local last = redis.call('HMGET', KEYS[2], 'at', 'delay')
if last[1] then
  local wait = last[1] + math.max(delay, last[2]) - now
  if wait > 0 then return {wait, KEYS[1]} end
end
redis.call('ZADD', KEYS[1], now + ${TURN_MS_MAX}, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${TURN_MS_MAX})
if delay > 0 then
  redis.call('HSET', KEYS[2], 'at', string.format('%.0f', now), 'delay', delay, 'by', ARGV[1])
  redis.call('PEXPIRE', KEYS[2], delay)
end
return {0, KEYS[1]}
`);

/** KEYS: as above. ARGV: the member, "1" if the turn was not used. */
const LEAVE = redisScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '1' and redis.call('HGET', KEYS[2], 'by') == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 0
`);

/** Turns on Redis. */
export function sharedHostTurns({ redis, node }: SharedHostTurnsOptions): HostTurns {
  let count = 0;
  return {
    ask(host, { delayMs, most }) {
      if (!redis.isUp()) return undefined;
      count += 1;
      const member = `${node}:${count}`;
      const keys = [`${KEY_PREFIX}host:${host}:turns`, `${KEY_PREFIX}host:${host}:last`];
      // A turn that cannot be given back expires.
      const leave = (unused = false) => void redis.run(LEAVE, keys, [member, unused ? 1 : 0]).catch(() => undefined);
      return askRedis(redis, TAKE, { keys, args: [member, Math.ceil(delayMs), most] }).then(
        ([waitMs]) =>
          Number(waitMs) > 0
            ? { granted: false, waitMs: Math.min(WAIT_MS_MAX, Number(waitMs)) }
            : { granted: true, leave },
        // The turn may have been taken although its answer was lost, so it is given back when the request has ended.
        () => ({ granted: true, leave }),
      );
    },
  };
}
