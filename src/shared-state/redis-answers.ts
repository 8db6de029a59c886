// Kept answers of models on Redis, for all nodes. They are sealed by the gateway, so here they are opaque bytes. Redis deletes each
// when its time is over; an index beside them has their sizes, so that all of them together stay within a limit.

import { askRedis, KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { redisScript } from "./redis-script.ts";

/** An answer to keep. */
export interface SharedAnswer {
  readonly key: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly content: Uint8Array;
  readonly expiresAtMs: number;
}

/** An answer that was found, and the API key for which it was kept. */
export interface FoundSharedAnswer {
  readonly content: Uint8Array;
  readonly createdAtMs: number;
  readonly keyId: string;
}

/** Redis cannot be reached. The connection tells of it once; requests go on without the answers. */
export class AnswersDown extends Error {
  override name = "AnswersDown";
}

/** What the answers need. */
export interface SharedAnswersOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run">;
  now(): number;
  /** The limit of all answers together. */
  bytesMax(): number;
}

/** What an entry takes beside its content: names, the index and Redis' own structures. */
const OVERHEAD_BYTES = 600;
const SCAN_COUNT = 500;

const ENTRY = `${KEY_PREFIX}answer:`;
/** By the time of their end. */
const ORDER = `${KEY_PREFIX}answers:order`;
/** By name: a list of the size, the model and the API key. */
const SIZES = `${KEY_PREFIX}answers:sizes`;
const TOTAL = `${KEY_PREFIX}answers:bytes`;
const INDEX = [ORDER, SIZES, TOTAL];
/** The API keys with answers; the names of an API key's answers. */
const HOLDERS = `${KEY_PREFIX}answers:holders`;
const HELD = `${KEY_PREFIX}answers:of:`;

/** Takes an answer out of the index, whose keys are the last three. */
const DROP = `
local holders, held = '${HOLDERS}', '${HELD}'
local order, sizes, total = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]
local function drop(name)
  local size = redis.call('HGET', sizes, name)
  redis.call('ZREM', order, name)
  if not size then return 0 end
  redis.call('HDEL', sizes, name)
  local holder = string.match(size, ',"([^"]*)"%]$') or ''
  redis.call('SREM', held .. holder, name)
  if redis.call('EXISTS', held .. holder) == 0 then redis.call('SREM', holders, holder) end
  redis.call('DECRBY', total, string.match(size, '^%[(%d+)'))
  return 1
end
`;

const FIND = redisScript(
  `
local found = redis.call('HMGET', KEYS[1], 'content', 'key', 'created')
return {found[1] or '', found[2] or '', found[3] or '', KEYS[1]}
`,
  { isWhole: true },
);

/** ARGV: name, content, API key, time, milliseconds to live, size, model as JSON, limit, prefix of entries. Gives the size of all. */
const KEEP = redisScript(`${DROP}
local name, ttl, limit = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now, 'LIMIT', 0, 200)) do drop(gone) end
drop(name)
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'content', ARGV[2], 'key', ARGV[3], 'created', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('ZADD', order, now + ttl, name)
redis.call('HSET', sizes, name, '[' .. ARGV[6] .. ',' .. ARGV[7] .. ',"' .. ARGV[3] .. '"]')
redis.call('SADD', holders, ARGV[3])
redis.call('SADD', held .. ARGV[3], name)
local size = redis.call('INCRBY', total, ARGV[6])
for _ = 1, 1000 do
  if size <= limit then break end
  local oldest = redis.call('ZRANGE', order, 0, 0)[1]
  if not oldest then break end
  redis.call('DEL', ARGV[9] .. oldest)
  drop(oldest)
  size = tonumber(redis.call('GET', total))
end
for _, key in ipairs({order, sizes, total, holders, held .. ARGV[3]}) do
  redis.call('PEXPIRE', key, math.max(ttl, redis.call('PTTL', key)))
end
return {size, KEYS[1]}
`);

/** ARGV: cursor, count. Gives the next cursor, and names with what the index says of them. */
const SCAN = redisScript(`
local found = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
return {found[1], found[2], KEYS[1]}
`);

/** ARGV: the prefix of entries, and names. Gives how many there were. */
const REMOVE = redisScript(`${DROP}
local count = 0
for at = 2, #ARGV do
  redis.call('DEL', ARGV[1] .. ARGV[at])
  count = count + drop(ARGV[at])
end
return {count, KEYS[1]}
`);

const MEMBERS = redisScript("return {redis.call('SMEMBERS', KEYS[1]), KEYS[1]}");

/** Kept answers. */
export type SharedAnswers = ReturnType<typeof sharedAnswers>;

/** Creates the verbs over them. While Redis cannot be reached they reject with `AnswersDown`. */
export function sharedAnswers({ redis, now, bytesMax }: SharedAnswersOptions) {
  let bytes = 0;
  const ask: typeof askRedis = async (...asked) => {
    if (!redis.isUp()) throw new AnswersDown("Redis cannot be reached.");
    try {
      return await askRedis(...asked);
    } catch (error) {
      // The connection broke meanwhile, of which it may tell a moment later.
      if (!redis.isUp() || isOfBrokenConnection(error)) throw new AnswersDown("Redis cannot be reached.");
      throw error;
    }
  };
  const remove = async (names: readonly string[]): Promise<number> => {
    if (names.length === 0) return 0;
    const [count] = await ask(redis, REMOVE, { keys: INDEX, args: [ENTRY, ...names] });
    return Number(count);
  };
  return {
    async findCachedAnswer(key: string): Promise<FoundSharedAnswer | undefined> {
      const [content, keyId, created] = await ask(redis, FIND, { keys: [ENTRY + key], args: [] });
      if (content === "") return undefined;
      return { content: Buffer.from(String(content), "base64"), keyId: String(keyId), createdAtMs: Number(created) };
    },

    /** Keeps an answer in place of an earlier one, and deletes those that end first beyond the limit. */
    async keepCachedAnswer({ key, keyId, model, content, expiresAtMs }: SharedAnswer): Promise<boolean> {
      const text = Buffer.from(content).toString("base64");
      const size = text.length + OVERHEAD_BYTES;
      if (size > bytesMax()) return false;
      const createdAt = now();
      const args = [key, text, keyId, createdAt, Math.max(1, Math.ceil(expiresAtMs - createdAt)), size];
      const [total] = await ask(redis, KEEP, {
        keys: [ENTRY + key, ...INDEX],
        args: [...args, JSON.stringify(model), bytesMax(), ENTRY],
      });
      bytes = Number(total);
      return true;
    },

    /** The size of all kept answers when this node kept one last. */
    async cachedBytes(): Promise<number> {
      return bytes;
    },

    /** Room is made with each answer that is kept. */
    async deleteOldestCached(): Promise<number> {
      return 0;
    },

    /** Deletes the answers of API keys that have ended; returns their number, 0 while Redis cannot be reached. */
    async deleteOfEnded(isLive: (keyId: string) => Promise<boolean>): Promise<number> {
      if (!redis.isUp()) return 0;
      let count = 0;
      const [holders] = await ask(redis, MEMBERS, { keys: [HOLDERS], args: [] });
      for (const keyId of holders as string[]) {
        if (await isLive(keyId)) continue;
        const names = (await ask(redis, MEMBERS, { keys: [HELD + keyId], args: [] }))[0] as string[];
        for (let at = 0; at < names.length; at += SCAN_COUNT) count += await remove(names.slice(at, at + SCAN_COUNT));
      }
      return count;
    },

    /** Deletes all answers, or those of one model; returns their number. */
    async clearCache(model?: string): Promise<number> {
      let count = 0;
      let cursor = "0";
      do {
        const [next, fields] = await ask(redis, SCAN, { keys: [SIZES], args: [cursor, SCAN_COUNT] });
        cursor = String(next);
        const listed = (fields as string[]).flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1]!]] : []));
        const meant = listed.filter(
          ([, told = "[]"]) => model === undefined || (JSON.parse(told) as unknown[])[1] === model,
        );
        count += await remove(meant.map(([name = ""]) => name));
      } while (cursor !== "0");
      return count;
    },
  };
}

/** Whether a call ended with its connection: none is sent again, since it may have been carried out. */
function isOfBrokenConnection(error: unknown): boolean {
  return error instanceof Error && error.name === "MaxRetriesPerRequestError";
}
