// Breakers that nodes share: until when a provider is left alone, and who probes it. What each node knows is in its memory, so
// that a request asks nothing while a breaker is closed; changes are published, and read every few seconds for lost messages.
// Which failures led to an opening stays with each node.

import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { redisScript } from "./redis-script.ts";

/** A change, or what is known. `open` for 0 ms or less: the next call probes. */
type News =
  | { readonly state: "open"; readonly forMs: number; readonly only?: string | undefined }
  | { readonly state: "closed" }
  /** The probe ended without a result. */
  | { readonly state: "released" };

/** A breaker of this node. */
interface OwnBreaker {
  /** Takes over what other nodes know. */
  adopt(news: News): void;
  /** How much longer it is open; undefined while it is closed, 0 or less if the next call probes. */
  openForMs(): number | undefined;
  /** The account for which it is open; undefined: for all. */
  readonly only: string | undefined;
}

/** What a breaker tells others and asks them. */
interface Peers {
  opened(): void;
  closed(): void;
  /** Whether this node may probe; if not, milliseconds for which another node may still be probing. */
  takeProbe(): Promise<{ readonly may: true } | { readonly may: false; readonly forMs: number }>;
  /** The probe ended without a result. */
  releaseProbe(): void;
  leave(): void;
}

/** Breakers that are shared. Call `stop` at the end. */
export interface SharedBreakers {
  /** Shares a breaker under the name of its provider, or of the provider and the model. */
  join(name: string, breaker: OwnBreaker): Peers;
  /** Calls `make` for each breaker that is open elsewhere and not known here, now and later. It may join it. */
  onUnknown(make: (name: string) => void): void;
  stop(): void;
}

export interface SharedBreakersOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run" | "listen" | "channel" | "whenUp">;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
}

const TOPIC = "breakers";
const READ_EVERY_MS = 3000;
/** After this time without a result another node may probe too. */
const PROBE_MS = 60_000;
/** How long it is known that a breaker closed, or that the next call probes. */
const KEPT_MS = 15 * 60_000;
/** The names of breakers that are open, by the time until when, for nodes that do not know them. */
const OPEN = `${KEY_PREFIX}breakers:open`;
const OPEN_MAX = 500;

/** Redis's time in milliseconds, and in microseconds as text, by which changes are ordered. */
const TIME = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = string.format('%.0f', time[1] * 1000000 + time[2])`;

/**
 * KEYS: the breaker, its probe, the open names. ARGV: name, state, milliseconds, channel, node, "1" to do nothing if one is known,
 * the account for which it is open or "" for all. An entry is a list: when it was written, state, until when, account. Gives when it was written, or "0".
 */
const TELL = redisScript(`${TIME}
if ARGV[6] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then return {'0', KEYS[1]} end
local entry = cjson.encode({at, ARGV[2], string.format('%.0f', now + ARGV[3]), ARGV[7]})
redis.call('SET', KEYS[1], entry, 'PX', ARGV[3] + ${KEPT_MS})
redis.call('DEL', KEYS[2])
if ARGV[2] == 'open' then redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1]) else redis.call('ZREM', KEYS[3], ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, ${-1 - OPEN_MAX})
redis.call('PUBLISH', ARGV[4], cjson.encode({ARGV[5], ARGV[1], at, ARGV[2], tonumber(ARGV[3]), ARGV[7]}))
return {at, KEYS[1]}
`);

/** KEYS: the open names. Gives those that are open still. */
const READ_OPEN = redisScript(`${TIME}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local found = redis.call('ZRANGE', KEYS[1], 0, -1)
found[#found + 1] = KEYS[1]
return found
`);

/** KEYS: breakers. Gives the time, then an entry for each of them, or "". */
const READ = redisScript(`${TIME}
local found = {now}
for _, key in ipairs(KEYS) do found[#found + 1] = redis.call('GET', key) or '' end
found[#found + 1] = KEYS[1]
return found
`);

/** KEYS: the breaker, its probe. ARGV: token. Gives the state; or "probe" if this node may probe, else "wait"; milliseconds; when. */
const PROBE = redisScript(`${TIME}
local entry = redis.call('GET', KEYS[1])
if entry then
  local known = cjson.decode(entry)
  if known[2] == 'closed' then return {'closed', 0, known[1], '', KEYS[1]} end
  if tonumber(known[3]) > now then return {'open', known[3] - now, known[1], known[4] or '', KEYS[1]} end
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ${PROBE_MS}) then return {'probe', 0, '0', KEYS[1]} end
return {'wait', redis.call('PTTL', KEYS[2]), '0', KEYS[1]}
`);

/** KEYS: the probe. ARGV: token, name, channel, node. */
const RELEASE = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], cjson.encode({ARGV[4], ARGV[2], '0', 'released', 0}))
return 1
`);

type Link = SharedBreakersOptions["redis"];

/** One breaker, as it is shared. */
class SharedBreaker implements Peers {
  readonly breaker: OwnBreaker;
  /** A change of this node has not been told to the others. */
  isUntold = false;
  /** How many changes are on their way to the others. */
  #telling = 0;
  /** When the latest change that is known here was written, in microseconds. */
  #at = 0;
  #token = "";
  #probes = 0;
  readonly #name: string;
  readonly #redis: Link;
  readonly #node: string;
  readonly #left: () => void;

  constructor(name: string, breaker: OwnBreaker, { redis, node, left }: SharedBreakersOptions & { left(): void }) {
    this.#name = name;
    this.breaker = breaker;
    this.#redis = redis;
    this.#node = node;
    this.#left = left;
  }

  opened(): void {
    this.tell();
  }

  closed(): void {
    this.tell();
  }

  leave(): void {
    this.#left();
  }

  /** Takes over a change, unless a later one is known. */
  learn(at: number, news: News): void {
    if (news.state !== "released") {
      if (at <= this.#at) return;
      this.#at = at;
      // It is replaced by this one.
      this.isUntold = false;
    }
    this.breaker.adopt(news);
  }

  /** Tells what could not be told. */
  tellAgain(): void {
    // A change that was sent twice would undo what followed the first one.
    if (this.#telling === 0) this.tell();
  }

  /** Tells the others the state of this node. `onlyNew`: unless Redis knows one. */
  tell(onlyNew = false): void {
    const forMs = this.breaker.openForMs();
    const state = forMs === undefined ? "closed" : "open";
    const channel = this.#redis.channel(TOPIC);
    const { only } = this.breaker;
    const toldOnly = only === undefined ? "" : `=${only}`;
    const args = [
      this.#name,
      state,
      Math.max(0, Math.ceil(forMs ?? 0)),
      channel,
      this.#node,
      onlyNew ? 1 : 0,
      toldOnly,
    ];
    this.isUntold = true;
    if (!this.#redis.isUp()) return;
    this.#telling += 1;
    const asked = askRedis(this.#redis, TELL, { keys: [...keysOf(this.#name), OPEN], args });
    asked.then(
      ([at]) => {
        this.#telling -= 1;
        // The failure of a change that is still on its way must not be forgotten.
        this.isUntold = this.#telling > 0;
        // A later change of another node may have been heard already.
        if (Number(at) <= this.#at) return;
        this.#at = Number(at);
        // What was read meanwhile is older than what was told.
        const isOpen = this.breaker.openForMs() !== undefined;
        if (!onlyNew && isOpen !== (state === "open")) this.breaker.adopt(newsOf(state, forMs ?? 0, toldOnly));
      },
      // Told when Redis is read next.
      () => {
        this.#telling -= 1;
      },
    );
  }

  async takeProbe() {
    this.#token = `${this.#node}:${++this.#probes}`;
    // Without Redis each node probes for itself.
    if (!this.#redis.isUp()) return MAY_PROBE;
    const asked = askRedis(this.#redis, PROBE, { keys: keysOf(this.#name), args: [this.#token] });
    const reply = await asked.catch(() => undefined);
    if (reply === undefined || reply[0] === "probe") return MAY_PROBE;
    const [state, forMs, at] = [String(reply[0]), Number(reply[1]), Number(reply[2])];
    if (state === "wait") return { may: false, forMs } as const;
    // This node opened it later, and could not tell.
    if (state === "closed" && at <= this.#at) return MAY_PROBE;
    this.#at = Math.max(this.#at, at);
    this.breaker.adopt(newsOf(state, forMs, reply[3]));
    return { may: false, forMs: 0 } as const;
  }

  releaseProbe(): void {
    const args = [this.#token, this.#name, this.#redis.channel(TOPIC), this.#node];
    // A lock that is not released ends by itself.
    this.#redis.run(RELEASE, [keysOf(this.#name)[1]], args).catch(() => undefined);
  }
}

const MAY_PROBE = { may: true } as const;

/** Shares breakers through Redis. */
export function sharedBreakers({ redis, node }: SharedBreakersOptions): SharedBreakers {
  const joined = new Map<string, SharedBreaker>();
  let isReading = false;
  let make: ((name: string) => void) | undefined;
  let isWanted = false;
  const read = async () => {
    isReading = true;
    // What joins while others are read is read after them.
    while (isWanted) {
      isWanted = false;
      // All that join now are read at once.
      await Promise.resolve();
      // What could not be read is read the next time.
      await readAll(redis, joined).catch(() => undefined);
    }
    isReading = false;
  };
  const readSoon = () => {
    isWanted = true;
    if (!isReading) void read();
  };
  const meetUnknown = async () => {
    if (make === undefined || !redis.isUp()) return;
    const names = await askRedis(redis, READ_OPEN, { keys: [OPEN], args: [] });
    for (const name of names.slice(0, -1).map(String)) if (!joined.has(name)) make(name);
  };
  const readNamesToo = () => {
    readSoon();
    // Names that could not be read are read the next time.
    meetUnknown().catch(() => undefined);
  };
  redis.listen(TOPIC, (message) => {
    const { from, name, at, news } = messageIn(message);
    if (from === node) return;
    if (news.state === "open" && !joined.has(name)) make?.(name);
    joined.get(name)?.learn(at, news);
  });
  redis.whenUp(readNamesToo);
  const timer = setInterval(readNamesToo, READ_EVERY_MS);
  timer.unref();
  return {
    join(name, breaker) {
      const shared = new SharedBreaker(name, breaker, { redis, node, left: () => void joined.delete(name) });
      joined.set(name, shared);
      readSoon();
      return shared;
    },
    onUnknown(listener) {
      make = listener;
      readNamesToo();
    },
    stop: () => clearInterval(timer),
  };
}

/** Reads what is known of all breakers, and tells what is not. */
async function readAll(redis: Link, joined: ReadonlyMap<string, SharedBreaker>): Promise<void> {
  const all = [...joined];
  if (!redis.isUp() || all.length === 0) return;
  const [nowMs, ...entries] = await askRedis(redis, READ, { keys: all.map(([name]) => keysOf(name)[0]), args: [] });
  for (const [index, [, shared]] of all.entries()) {
    const entry = entryIn(entries[index], Number(nowMs));
    if (shared.isUntold) shared.tellAgain();
    else if (entry !== undefined) shared.learn(entry.at, entry.news);
    // Redis was emptied.
    else if ((shared.breaker.openForMs() ?? 0) > 0) shared.tell(true);
  }
}

function keysOf(name: string): [breaker: string, probe: string] {
  const key = `${KEY_PREFIX}breaker:${name}`;
  return [key, `${key}:probe`];
}

function entryIn(text: unknown, nowMs: number): { at: number; news: News } | undefined {
  if (typeof text !== "string" || text === "") return undefined;
  const [at, state, until, only] = JSON.parse(text) as [string, string, string, string?];
  return { at: Number(at), news: newsOf(state, Number(until) - nowMs, only) };
}

function messageIn(text: string): { from: string; name: string; at: number; news: News } {
  const [from, name, at, state, forMs, only] = JSON.parse(text) as [string, string, string, string, number, string?];
  return { from, name, at: Number(at), news: newsOf(state, forMs, only) };
}

/** `only` is "=" and an account, or empty: nodes of earlier releases write none. */
function newsOf(state: string, forMs: number, only: unknown): News {
  const account = typeof only === "string" && only.startsWith("=") ? only.slice(1) : undefined;
  return state === "open" ? { state, forMs, only: account } : { state: state === "closed" ? "closed" : "released" };
}
