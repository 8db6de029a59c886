// Leases of hosts through Redis, by its clock: one call takes a lease or says when to ask again. A node renews its leases while
// their requests run, so those of a node that crashed expire soon.

import type { HostLease, HostLeases } from "./host-leases.ts";
import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { redisScript } from "./redis-script.ts";

/** What sharing leases needs. */
export interface SharedHostLeasesOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
  readonly renewMs?: number;
}

/** Turns with a timer that renews this node's own. */
export interface SharedHostLeases extends HostLeases {
  stop(): void;
}

/** The leases of a node that has crashed, and those that could not be given back, expire after this time. */
const EXPIRY_MS = 30_000;
const RENEW_MS = 10_000;
/** When a lease may become free is not known, so it is asked for again. */
const BUSY_MS = 100;
/** A lease that was not used makes the next one free earlier, so a long wait is asked for again. */
const WAIT_MS_MAX = 2000;

/**
 * KEYS: the leases taken, the last start. ARGV: a member that no other lease has, what the members of the account begin with (""
 * for none), milliseconds between starts, leases at once, leases at once for an account that has none. The last start is written
 * with the time that the host demanded after it. Gives 0 for a lease, else milliseconds to wait and whether all have to.
 */
const TAKE = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local delay = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local taken = redis.call('ZRANGE', KEYS[1], 0, -1)
if #taken >= tonumber(ARGV[5]) then return {${BUSY_MS}, 1, KEYS[1]} end
if #taken >= tonumber(ARGV[4]) then
  for _, member in ipairs(taken) do
    if string.sub(member, 1, #ARGV[2]) == ARGV[2] then return {${BUSY_MS}, 0, KEYS[1]} end
  end
end
local last = redis.call('HMGET', KEYS[2], 'at', 'delay')
if last[1] then
  local wait = last[1] + math.max(delay, last[2]) - now
  if wait > 0 then return {wait, 1, KEYS[1]} end
end
redis.call('ZADD', KEYS[1], now + ${EXPIRY_MS}, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${EXPIRY_MS})
if delay > 0 then
  redis.call('HSET', KEYS[2], 'at', string.format('%.0f', now), 'delay', delay, 'by', ARGV[1])
  redis.call('PEXPIRE', KEYS[2], delay)
end
return {0, 1, KEYS[1]}
`);

/** KEYS: the leases taken at a host. ARGV: this node's among them; one that was lost is added again. */
const RENEW = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, member in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now + ${EXPIRY_MS}, member) end
redis.call('PEXPIRE', KEYS[1], ${EXPIRY_MS})
return 0
`);

/** KEYS: as for a lease. ARGV: the member, "1" if the lease was not used. */
const LEAVE = redisScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '1' and redis.call('HGET', KEYS[2], 'by') == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 0
`);

/** Turns on Redis. `renewMs` is the time between two renewals. */
export function sharedHostLeases({ redis, node, renewMs = RENEW_MS }: SharedHostLeasesOptions): SharedHostLeases {
  let count = 0;
  const leases = new Map<string, Set<string>>();
  const timer = setInterval(() => {
    // A failed renewal is repeated at the next interval, before the leases expire.
    for (const [key, members] of leases) redis.run(RENEW, [key], [...members]).catch(() => undefined);
  }, renewMs);
  timer.unref();
  const leave = (keys: readonly [string, string], member: string, unused: boolean) => {
    const members = leases.get(keys[0]);
    members?.delete(member);
    if (members?.size === 0) leases.delete(keys[0]);
    // A lease that cannot be given back expires.
    redis.run(LEAVE, [...keys], [member, unused ? 1 : 0]).catch(() => undefined);
  };
  const granted = (keys: readonly [string, string], member: string): HostLease => {
    leases.set(keys[0], (leases.get(keys[0]) ?? new Set()).add(member));
    return { granted: true, leave: (unused = false) => leave(keys, member, unused) };
  };
  return {
    ask(host, { accountId, delayMs, most, newcomerMost }) {
      if (!redis.isUp()) return undefined;
      count += 1;
      // Every member begins with "", so the requests of the program, which belong to no account, never have the newcomers' place.
      const owner = accountId === "" ? "" : `${accountId}\n`;
      const member = `${owner}${node}:${count}`;
      const keys = [`${KEY_PREFIX}host:${host}:turns`, `${KEY_PREFIX}host:${host}:last`] as const;
      const args = [member, owner, Math.ceil(delayMs), most, newcomerMost];
      return askRedis(redis, TAKE, { keys: [...keys], args }).then(
        ([waitMs, isForAll]) =>
          Number(waitMs) > 0
            ? { granted: false, waitMs: Math.min(WAIT_MS_MAX, Number(waitMs)), isForAll: Number(isForAll) === 1 }
            : granted(keys, member),
        // The lease may have been taken although its answer was lost. The node decides alone, and others count the request.
        () => granted(keys, member),
      );
    },
    stop: () => clearInterval(timer),
  };
}
