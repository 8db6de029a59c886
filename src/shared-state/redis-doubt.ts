// Notices that Redis was emptied: for a while it then knows too little, and what a node counted itself must hold as well.

import { KEY_PREFIX } from "./redis.ts";

/** Stores since when this Redis has held limits; the time changes when Redis was emptied. */
export const BORN = `${KEY_PREFIX}windows:born`;

/** A part of a script that sets `born`, given `now`; the key is the last one. */
export const BORN_SCRIPT = `
local born = redis.call('GET', KEYS[#KEYS])
if not born then
  born = tostring(now)
  redis.call('SET', KEYS[#KEYS], born)
end
`;

/** What a node knows of the Redis that it asks. */
export interface RedisDoubt {
  /** Whether counts may be incomplete. */
  isOpen(): boolean;
  /** Takes the time of birth of an answer. */
  notice(born: unknown): void;
}

/** Creates it. `lengthMs`: how long counts may be incomplete after Redis was emptied. */
export function createDoubt(now: () => number, lengthMs: number): RedisDoubt {
  let known: string | undefined;
  let untilMs = 0;
  return {
    isOpen: () => now() < untilMs,
    notice(born) {
      const since = String(born);
      if (known !== undefined && known !== since) untilMs = now() + lengthMs;
      known = since;
    },
  };
}
