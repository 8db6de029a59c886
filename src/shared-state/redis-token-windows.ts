// Token windows that all nodes share: the windows of token-windows.ts in one round trip, by Redis's own clock, with an entry for each
// request in progress, so that the estimate of a node that died is given back. While Redis cannot be reached, a node admits its share
// of the limit, or nothing.

import { ApiError } from "../base/errors.ts";
import { createOwnHolds, HOLD_MS, type Hold } from "./own-holds.ts";
import { SLICE_MS, WINDOW_MS } from "./rate-windows.ts";
import { askRedis, KEY_PREFIX } from "./redis.ts";
import { BORN, BORN_SCRIPT, createDoubt } from "./redis-doubt.ts";
import type { SharedSlotsOptions } from "./redis-request-slots.ts";
import { redisScript } from "./redis-script.ts";
import type { ScopedLimit } from "./request-slots.ts";
import {
  type MemoryTokenWindows,
  SLICES,
  type TokenHold,
  type TokenVerdict,
  type TokenWindows,
  type TokenWish,
} from "./token-windows.ts";

/** What windows need to be shared with other nodes. */
export interface SharedTokensOptions extends SharedSlotsOptions {
  /** Counts this node's own requests, and decides while Redis cannot be reached. */
  readonly local: MemoryTokenWindows;
}

/** Windows with a timer that renews this node's entries. */
export interface SharedTokenWindows extends TokenWindows {
  stop(): void;
}

const RETRY_AFTER_SECONDS = 5;
/** A refusal is looked at again after these times, as the end of a request may reach its client before it reaches Redis. */
const LOOK_AGAIN_MS = [20, 60];

/**
 * Begins a script. A window is a hash of tokens by slice with their `total`, a set of the slices, and a set of the entries in
 * progress by expiry. An entry is `NODE:COUNT:SLICE:TOKENS`.
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slice = math.floor(now / ${SLICE_MS})
local function add(at, place, tokens)
  redis.call('HINCRBY', KEYS[at], place, tokens)
  redis.call('HINCRBY', KEYS[at], 'total', tokens)
  redis.call('ZADD', KEYS[at + 1], place, place)
  redis.call('PEXPIRE', KEYS[at], ${2 * WINDOW_MS})
  redis.call('PEXPIRE', KEYS[at + 1], ${2 * WINDOW_MS})
end
local function parts(entry)
  local place, tokens = string.match(entry, ':(%d+):(%d+)$')
  return tonumber(place), tonumber(tokens)
end
local function give(at, place, tokens)
  if tokens > 0 and redis.call('HEXISTS', KEYS[at], place) == 1 then add(at, place, -tokens) end
end
local function total(at)
  for _, place in ipairs(redis.call('ZRANGEBYSCORE', KEYS[at + 1], '-inf', slice - ${SLICES} - 1)) do
    redis.call('HINCRBY', KEYS[at], 'total', -tonumber(redis.call('HGET', KEYS[at], place) or 0))
    redis.call('HDEL', KEYS[at], place)
    redis.call('ZREM', KEYS[at + 1], place)
  end
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[at + 2], '-inf', now)) do
    give(at, parts(entry))
    redis.call('ZREM', KEYS[at + 2], entry)
  end
  return tonumber(redis.call('HGET', KEYS[at], 'total') or 0)
end
local function put(at, entry)
  local added = redis.call('ZADD', KEYS[at + 2], now + ${HOLD_MS}, entry)
  redis.call('PEXPIRE', KEYS[at + 2], ${2 * HOLD_MS})
  return added
end
local function leaves(place)
  return math.max(1, (place + ${SLICES} + 1) * ${SLICE_MS} - now)
end
`;

/**
 * KEYS: the three of each window, the time of birth. ARGV: what begins the entry, the least and the most tokens, then each limit.
 * Gives: the number of the limit that refuses (0: none), the number of the one of which least is left, what is left of it,
 * milliseconds until its oldest tokens leave and until a refused request fits (0: requests in progress may give enough back), the
 * slice, born, and the tokens that were taken of each.
 */
const TAKE = redisScript(`${COMMON}${BORN_SCRIPT}
local least, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local refusing, tightest, wait = 0, 0, 0
local left = {}
for number = 1, (#KEYS - 1) / 3 do
  left[number] = tonumber(ARGV[3 + number]) - total(3 * number - 2)
  if refusing == 0 and least > left[number] then refusing = number end
end
local taken = {}
if refusing == 0 then
  for number, rest in ipairs(left) do
    local at = 3 * number - 2
    local tokens = string.format('%.0f', math.min(most, rest))
    add(at, slice, tokens)
    put(at, ARGV[1] .. ':' .. slice .. ':' .. tokens)
    taken[number] = tonumber(tokens)
    left[number] = rest - taken[number]
    if tightest == 0 or left[number] < left[tightest] then tightest = number end
  end
else
  tightest = refusing
  local at = 3 * refusing - 2
  local missing, held, freed = least - left[refusing], 0, 0
  for _, entry in ipairs(redis.call('ZRANGE', KEYS[at + 2], 0, -1)) do
    local place, tokens = parts(entry)
    if redis.call('HEXISTS', KEYS[at], place) == 1 then held = held + tokens end
  end
  if held < missing then
    wait = ${WINDOW_MS}
    for _, place in ipairs(redis.call('ZRANGE', KEYS[at + 1], 0, -1)) do
      freed = freed + tonumber(redis.call('HGET', KEYS[at], place) or 0)
      if freed >= missing then
        wait = leaves(tonumber(place))
        break
      end
    end
  end
end
local oldest = redis.call('ZRANGE', KEYS[3 * tightest - 1], 0, 0)[1]
local reset = oldest and leaves(tonumber(oldest)) or 0
return {refusing, tightest, math.max(0, left[tightest]), reset, wait, slice, born, taken, KEYS[1]}
`);

/** KEYS: those of each window. ARGV: its entry in each. Extends their expiry; one that was lost is added again. */
const RENEW = redisScript(`${COMMON}
for number, entry in ipairs(ARGV) do
  local at = 3 * number - 2
  if put(at, entry) == 1 then
    local place, tokens = parts(entry)
    if place >= slice - ${SLICES} then add(at, place, tokens) end
  end
end
return 0
`);

/**
 * KEYS: those of each window. ARGV: the tokens that were used, then the entry in each; "" for tokens without one. What was not
 * used is given back where it was taken. What was used beyond it counts from now on.
 */
const SETTLE = redisScript(`${COMMON}
local used = tonumber(ARGV[1])
for number = 1, #KEYS / 3 do
  local at = 3 * number - 2
  local entry = ARGV[1 + number]
  local beyond = used
  total(at)
  if redis.call('ZREM', KEYS[at + 2], entry) == 1 then
    local place, tokens = parts(entry)
    beyond = used - tokens
    give(at, place, -beyond)
  end
  if beyond > 0 then add(at, slice, beyond) end
end
return 0
`);

function keysOf(limits: readonly ScopedLimit[]): string[] {
  return limits.flatMap(({ id }) => ["", ":slices", ":held"].map((part) => `${KEY_PREFIX}tokens:${id}${part}`));
}

/** Windows on Redis. Call `stop` at the end. */
export function sharedTokenWindows(options: SharedTokensOptions): SharedTokenWindows {
  const { redis, node, local } = options;
  const holds = createOwnHolds(redis, RENEW);
  const doubt = createDoubt(options.now, WINDOW_MS);
  let count = 0;

  const byShare = (limits: readonly ScopedLimit[], wish: TokenWish): TokenVerdict => {
    const nodes = Math.max(1, options.liveNodes());
    return local.take(limits, wish, (limit) => Math.floor(limit / nodes));
  };

  /** What a request took, here and on Redis. */
  const tracked = (own: TokenHold, keys: readonly string[], entries: readonly string[]): TokenHold => {
    const hold: Hold = { keys, args: entries };
    holds.add(hold);
    return {
      settle(tokens) {
        if (!holds.remove(hold)) return;
        own.settle(tokens);
        holds.tell(SETTLE, { keys, args: [tokens, ...entries] });
      },
    };
  };

  /** Decides without Redis, which is told when it is there again. */
  const alone = (limits: readonly ScopedLimit[], wish: TokenWish, name: string): TokenVerdict => {
    if (options.onFailure() === "closed") {
      throw new ApiError("server_busy", "The tokens a minute cannot be counted at the moment. Try again shortly.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const verdict = byShare(limits, wish);
    if (verdict.hold === undefined) return verdict;
    const entry = `${name}:${Math.floor(options.now() / SLICE_MS)}:${wish.least}`;
    const entries = limits.map(() => entry);
    return { ...verdict, hold: tracked(verdict.hold, keysOf(limits), entries) };
  };

  const ask = async (limits: readonly ScopedLimit[], wish: TokenWish): Promise<TokenVerdict> => {
    count += 1;
    const name = `${node}:${count}`;
    if (!redis.isUp()) return alone(limits, wish, name);
    const keys = keysOf(limits);
    const args = [name, wish.least, wish.most, ...limits.map(({ limit }) => limit)];
    const reply = await askRedis(redis, TAKE, { keys: [...keys, BORN], args }).catch(() => undefined);
    // What it may have taken nevertheless is given back when the entry expires.
    if (reply === undefined) return alone(limits, wish, name);
    const [refusing, tightest, remaining, resetMs, waitMs, slice, born, taken] = reply;
    doubt.notice(born);
    const seen = {
      of: limits[Number(tightest) - 1] as ScopedLimit,
      ...{ remaining: Number(remaining), resetMs: Number(resetMs), waitMs: Number(waitMs) },
    };
    if (refusing !== 0) return { hold: undefined, ...seen };
    const amounts = (taken as unknown[]).map(Number);
    const entries = amounts.map((tokens) => `${name}:${slice}:${tokens}`);
    if (!doubt.isOpen()) return { hold: tracked(local.hold(limits, amounts), keys, entries), ...seen };
    // Tokens of other nodes may not be counted there yet.
    const verdict = byShare(limits, wish);
    if (verdict.hold !== undefined) return { hold: tracked(verdict.hold, keys, entries), ...seen };
    holds.tell(SETTLE, { keys, args: [0, ...entries] });
    return verdict;
  };

  return {
    async take(limits, wish) {
      for (let at = 0; ; at++) {
        const verdict = await ask(limits, wish);
        const pauseMs = LOOK_AGAIN_MS[at];
        if (verdict.hold !== undefined || verdict.waitMs > 0 || pauseMs === undefined) return verdict;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    count(limits, tokens) {
      local.count(limits, tokens);
      holds.tell(SETTLE, { keys: keysOf(limits), args: [tokens, ...limits.map(() => "")] });
    },
    stop: () => holds.stop(),
  };
}
