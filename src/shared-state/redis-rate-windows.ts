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
import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { BORN, BORN_SCRIPT, createDoubt } from "./redis-doubt.ts";
import { redisScript } from "./redis-script.ts";

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

/** Groups of requests that one call asks for: nothing else runs on Redis meanwhile. */
const GROUPS_MAX = 100;
/** Requests in a group: Lua hands a command only so many arguments. */
const GROUP_MAX = 1000;

/**
 * KEYS: the windows, the time of birth. ARGV: this node's name, then for each window its limit, "1" for slices, how many requests
 * ask, and the number of the first; a member is the node's name and the number of its request.
 * Gives for each window how many of them were admitted, how many requests are in the window now, and milliseconds until the oldest
 * leaves it (-1: it is empty); then born.
 */
const ADMIT = redisScript(
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
${BORN_SCRIPT}
local function sliced(window, limit, wanted)
  local key = window .. ':slices'
  local slice = math.floor(now / ${SLICE_MS})
  local known = redis.call('HMGET', key, 'first', 'total')
  local first, total = tonumber(known[1] or slice), tonumber(known[2] or 0)
  if slice - first > ${2 * (WINDOW_MS / SLICE_MS)} then
    redis.call('DEL', key)
    first, total = slice, 0
  end
  while first < slice - ${WINDOW_MS / SLICE_MS} do
    total = total - tonumber(redis.call('HGET', key, first) or 0)
    redis.call('HDEL', key, first)
    first = first + 1
  end
  local admitted = math.max(0, math.min(wanted, math.ceil(limit - total)))
  total = total + admitted
  if admitted > 0 then redis.call('HINCRBY', key, slice, admitted) end
  redis.call('HSET', key, 'first', first, 'total', total)
  redis.call('PEXPIRE', key, ${2 * WINDOW_MS})
  return admitted, total, total > 0 and (first + 1) * ${SLICE_MS} + ${WINDOW_MS} - now or -1
end
local function exact(key, limit, wanted, number)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ${WINDOW_MS})
  local total = redis.call('ZCARD', key)
  local admitted = math.max(0, math.min(wanted, math.ceil(limit - total)))
  if admitted > 0 then
    local members = {}
    for at = number, number + admitted - 1 do
      members[#members + 1] = now
      members[#members + 1] = ARGV[1] .. ':' .. at
    end
    redis.call('ZADD', key, unpack(members))
    redis.call('PEXPIRE', key, ${WINDOW_MS})
  end
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return admitted, total + admitted, head[2] and head[2] + ${WINDOW_MS} - now or -1
end
local reply = {}
for number = 1, #KEYS - 1 do
  local at = 4 * number - 2
  local count = ARGV[at + 1] == '1' and sliced or exact
  local admitted, total, oldest = count(KEYS[number], tonumber(ARGV[at]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]))
  for _, figure in ipairs({admitted, total, oldest}) do reply[#reply + 1] = figure end
end
reply[#reply + 1] = born
reply[#reply + 1] = KEYS[1]
return reply
`,
  { isWhole: true },
);

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

/** A request that waits for its verdict. */
interface Asked {
  readonly key: string;
  readonly limit: number;
  /** Whether this node has counted it in its own window. */
  readonly isCounted: boolean;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

/** Requests that ask the same window for the same limit. They are numbered one after another. */
interface Group {
  readonly key: string;
  readonly limit: number;
  /** The number of the first of them. */
  first: number;
  readonly asked: Asked[];
}

/** A limiter whose windows are in Redis. What is asked within one turn of the event loop is asked with one call. */
export function sharedRateLimiter(options: SharedLimiterOptions): RateLimiter {
  const { redis, local, node } = options;
  let count = 0;
  let waiting: Asked[] = [];
  const doubt = createDoubt(options.now, WINDOW_MS);

  const share = (limit: number) => Math.max(1, Math.floor(limit / Math.max(1, options.liveNodes())));

  const byShare = (key: string, limit: number): Verdict => ({ ...local.admit(key, share(limit)), limit });

  const alone = (key: string, limit: number): Verdict => {
    if (options.onFailure() === "local") return byShare(key, limit);
    throw new ApiError("server_busy", "The rate limit cannot be checked at the moment. Try again shortly.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };

  const decideAlone = ({ key, limit, resolve, reject }: Asked): void => {
    try {
      resolve(alone(key, limit));
    } catch (error) {
      reject(error);
    }
  };

  const ask = async (groups: readonly Group[]): Promise<void> => {
    const keys = groups.map(({ key }) => windowOf(key));
    const args = groups.flatMap(({ limit, asked, first }) => [limit, isSliced(limit), asked.length, first]);
    const reply = await askRedis(redis, ADMIT, { keys: [...keys, BORN], args: [node, ...args] }).catch(() => undefined);
    if (reply === undefined) {
      for (const { asked } of groups) for (const one of asked) decideAlone(one);
      return;
    }
    doubt.notice(reply.at(-2));
    for (const [at, group] of groups.entries()) {
      const figures = reply.slice(3 * at, 3 * at + 3).map(Number);
      for (const [index, { isCounted, resolve }] of group.asked.entries()) {
        const verdict = verdictOf(group, { index, figures, node });
        if (verdict.admitted && !isCounted) local.count(group.key, group.limit);
        resolve(verdict);
      }
    }
  };

  const askForAll = (): void => {
    const groups = grouped(waiting, count);
    count += waiting.length;
    waiting = [];
    for (let at = 0; at < groups.length; at += GROUPS_MAX) void ask(groups.slice(at, at + GROUPS_MAX));
  };

  return {
    admit(key, limit) {
      if (!redis.isUp()) return alone(key, limit);
      const isCounted = doubt.isOpen();
      if (isCounted) {
        // Requests that this node admitted before Redis was emptied still count against its share.
        const own = byShare(key, limit);
        if (!own.admitted) return own;
      }
      return new Promise((resolve, reject) => {
        if (waiting.push({ key, limit, isCounted, resolve, reject }) === 1) setImmediate(askForAll);
      });
    },
    takeBack(key, verdict) {
      const own = local.takeBack(key, verdict);
      if (verdict.slot === undefined) return own;
      // If Redis is lost meanwhile the slot leaves the window by itself, within a minute.
      return askRedis(redis, TAKE_BACK, { keys: [windowOf(key)], args: [verdict.slot, isSliced(verdict.limit)] }).then(
        () => undefined,
        () => undefined,
      );
    },
  };
}

const windowOf = (key: string) => `${KEY_PREFIX}rate:${key}`;

const isSliced = (limit: number): 0 | 1 => (limit > EXACT_LIMIT_MAX ? 1 : 0);

/** Groups requests in the order in which they came. The first one gets the number after `before`. */
function grouped(waiting: readonly Asked[], before: number): Group[] {
  const groups: Group[] = [];
  const open = new Map<string, Asked[]>();
  for (const one of waiting) {
    const name = `${one.limit} ${one.key}`;
    const known = open.get(name);
    if (known !== undefined && known.length < GROUP_MAX) known.push(one);
    else {
      const asked = [one];
      open.set(name, asked);
      groups.push({ key: one.key, limit: one.limit, first: 0, asked });
    }
  }
  let number = before + 1;
  for (const group of groups) {
    group.first = number;
    number += group.asked.length;
  }
  return groups;
}

/** What is said of one request of a group, whose first ones are admitted. */
function verdictOf(
  { limit, first }: Group,
  { index, figures, node }: { readonly index: number; readonly figures: readonly number[]; readonly node: string },
): Verdict {
  const [admitted = 0, total = 0, oldestMs = -1] = figures;
  return {
    slot: `${node}:${first + index}`,
    admitted: index < admitted,
    limit,
    remaining: Math.max(0, limit - total + Math.max(0, admitted - index - 1)),
    resetSeconds: oldestMs < 0 ? 0 : Math.max(1, Math.ceil(oldestMs / 1000)),
  };
}
