// Work that nodes share through Redis: a lock decides who works, and a message wakes those who wait. Nothing depends on it: a
// node that cannot reach Redis, waits too long or hears of a failure works itself.

import type { Flight, FlightOptions, Flights } from "../base/flights.ts";
import { sha256Hex } from "../base/ids.ts";
import { untilAborted } from "../base/until-aborted.ts";
import { VERSION } from "../base/version.ts";
import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { redisScript } from "./redis-script.ts";

/** What sharing needs. */
export interface SharedFlightsOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run" | "listen" | "channel">;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
}

/** The lock of a node that has crashed ends after this time. */
const LOCK_MS = 6000;
const RENEW_MS = 2000;
/** Messages may be lost, so a waiting node also looks by itself. */
const LOOK_AGAIN_MS = 1000;
/** A node that has waited this long works itself. */
const WAIT_MAX_MS = 60_000;
/** Those that wait for a value that is not kept find it for this long. */
const HANDED_OVER_MS = 1000;
/** Larger values are not shared. */
const VALUE_CHARS_MAX = 1_000_000;
const TOPIC = "flights";

/** KEYS: the value, the lock. ARGV: token, milliseconds of the lock, "1" to ignore the value. Gives what there is to do. */
const JOIN = redisScript(`
if ARGV[3] ~= '1' then
  local value = redis.call('GET', KEYS[1])
  if value then return {'take', value, redis.call('PTTL', KEYS[1]), KEYS[1]} end
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'make', '', 0, KEYS[1]} end
return {'wait', '', redis.call('PTTL', KEYS[2]), KEYS[1]}
`);

/**
 * KEYS: the value, the lock. ARGV: token, value, milliseconds that it is kept (0: the work failed), channel, message. Does
 * nothing if the lock was lost, since another node works by now.
 */
const LAND = redisScript(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
if ARGV[3] ~= '0' then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
`);

/** KEYS: the lock. ARGV: token, milliseconds. */
const RENEW = redisScript(
  "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0",
);

type Step = readonly ["take" | "make" | "wait", value: string, ms: number];

/** Shares work through Redis. */
export function sharedFlights({ redis, node }: SharedFlightsOptions): Flights {
  const waiting = new Wakeups();
  redis.listen(TOPIC, (message) => waiting.wake(message));
  let count = 0;

  /** Works with the lock, which is renewed meanwhile. */
  const make = async <T>(names: Names, work: () => Promise<T>, keptMs: Kept<T>): Promise<Flight<T>> => {
    // A lock that is not renewed ends, and then another node works too.
    const tell = (script: typeof RENEW, keys: string[], args: (string | number)[]) =>
      void redis.run(script, keys, args).catch(() => undefined);
    const renewing = setInterval(() => tell(RENEW, [names.lock], [names.token, LOCK_MS]), RENEW_MS);
    const land = (text: string, ms: number, outcome: Outcome) =>
      tell(LAND, [names.value, names.lock], [names.token, text, ms, redis.channel(TOPIC), `${outcome} ${names.value}`]);
    try {
      const value = await work();
      const leftMs = keptMs(value);
      const text = leftMs === undefined ? "" : JSON.stringify(value);
      if (leftMs === undefined || text.length > VALUE_CHARS_MAX) land("", 0, "failed");
      else land(text, Math.ceil(Math.max(HANDED_OVER_MS, leftMs)), "done");
      return { value, leftMs: leftMs ?? 0 };
    } catch (error) {
      land("", 0, "failed");
      throw error;
    } finally {
      clearInterval(renewing);
    }
  };

  /** The next step; undefined if Redis cannot tell. */
  const step = async ({ value, lock, token }: Names, anew: boolean): Promise<Step | undefined> => {
    if (!redis.isUp()) return undefined;
    const asked = askRedis(redis, JOIN, { keys: [value, lock], args: [token, LOCK_MS, anew ? 1 : 0] });
    return (await asked.catch(() => undefined)) as Step | undefined;
  };

  return {
    async share<T>(
      key: string,
      work: (hasWaited: boolean) => Promise<T>,
      { keptMs, anew = false, signal, waitMs = WAIT_MAX_MS }: FlightOptions<T>,
    ) {
      const names = namesOf(key, `${node}:${++count}`);
      const endsMs = performance.now() + waitMs;
      let hasWaited = false;
      while (performance.now() < endsMs) {
        const woken = waiting.on(names.value);
        try {
          const [what, text, ms] = (await step(names, anew && !hasWaited)) ?? [];
          if (what === undefined) break;
          if (what === "take") return { value: JSON.parse(text ?? "") as T, leftMs: Number(ms) };
          if (what === "make") return await make(names, () => work(hasWaited), keptMs);
          hasWaited = true;
          if ((await untilAborted(woken.within(Math.min(LOOK_AGAIN_MS, waitMs)), signal)) === "failed") break;
        } finally {
          woken.end();
        }
      }
      const value = await work(hasWaited);
      return { value, leftMs: keptMs(value) ?? 0 };
    },
  };
}

type Kept<T> = FlightOptions<T>["keptMs"];
type Outcome = "done" | "failed";

interface Names {
  readonly value: string;
  readonly lock: string;
  readonly token: string;
}

/** The value's form belongs to the version of the program, so versions do not share. */
function namesOf(key: string, token: string): Names {
  const name = `${KEY_PREFIX}flight:${VERSION}:${sha256Hex(key)}`;
  return { value: name, lock: `${name}:lock`, token };
}

/** Who waits for which value. */
class Wakeups {
  readonly #waiting = new Map<string, Set<(outcome: Outcome) => void>>();

  /** Listens from now on; end it. */
  on(name: string) {
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    const listeners = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, listeners.add(resolve));
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      /** The outcome; undefined if none was heard of in time. */
      within: (ms: number) => {
        timer = setTimeout(() => resolve(undefined), ms);
        return promise;
      },
      end: () => {
        clearTimeout(timer);
        listeners.delete(resolve);
        if (listeners.size === 0 && this.#waiting.get(name) === listeners) this.#waiting.delete(name);
      },
    };
  }

  /** Reads a message. */
  wake(message: string): void {
    const [outcome = "", name = ""] = message.split(" ");
    for (const resolve of this.#waiting.get(name) ?? []) resolve(outcome === "failed" ? "failed" : "done");
  }
}
