// What a node has on Redis of its requests in progress. Each entry is renewed, and expires soon after its node has crashed.

import type { SharedRedis } from "./redis.ts";
import type { RedisScript } from "./redis-script.ts";

/** The entries of a node that has crashed expire after this time. */
export const HOLD_MS = 30_000;
/** How often a node renews its own. */
export const RENEW_MS = 10_000;

/** An entry, as the keys and arguments of the script that renews it. */
export interface Hold {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** The entries of this node. */
export interface OwnHolds {
  add(hold: Hold): void;
  /** Whether it was there. */
  remove(hold: Hold): boolean;
  /** Runs a script whose effect may be lost: what is neither renewed nor removed expires. */
  tell(script: RedisScript, hold: Hold): void;
  stop(): void;
}

/** Creates the list of them. `renew` extends the expiry of an entry; if the entry was lost it is added again. */
export function createOwnHolds(redis: Pick<SharedRedis, "run" | "whenUp">, renew: RedisScript): OwnHolds {
  const held = new Set<Hold>();
  const tell = (script: RedisScript, { keys, args }: Hold) => void redis.run(script, keys, args).catch(() => undefined);
  const renewAll = () => {
    for (const hold of held) tell(renew, hold);
  };
  // A failed renewal is repeated at the next interval, before the entry expires.
  const timer = setInterval(renewAll, RENEW_MS);
  timer.unref();
  // Redis may be empty, and does not know what was admitted without it.
  redis.whenUp(renewAll);
  return {
    add: (hold) => void held.add(hold),
    remove: (hold) => held.delete(hold),
    tell,
    stop: () => clearInterval(timer),
  };
}
