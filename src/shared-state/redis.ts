// The connection to Redis that nodes share, and a second one that hears their messages: a connection that listens cannot run
// commands. Connecting is retried forever. While there is no connection, every command fails at once, so that no request
// waits for it.

import { Redis } from "ioredis";

/** How to connect. */
export interface RedisOptions {
  /** `redis://` or `rediss://` */
  readonly url: string;
  /** Called when the connection becomes usable, and when it no longer is. */
  changed(isUp: boolean): void;
  /** Called with an error, once for each loss of the connection. */
  problem(error: unknown): void;
}

/** The connection. */
export interface SharedRedis {
  /** False while commands would fail. */
  isUp(): boolean;
  /** Runs a script atomically. Throws if it did not run, or may not have run. */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** The channel of a topic; scripts publish to it. Databases of one server do not hear each other. */
  channel(topic: string): string;
  /** Calls back with each message of a topic. Messages may be lost: what they say must also be readable. */
  listen(topic: string, heard: (message: string) => void): void;
  /** Calls back whenever the connection has become usable. */
  whenUp(listener: () => void): void;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A script with its source and its hash, which is computed once. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** A command that takes longer counts as failed, since a request waits for it. */
const COMMAND_MS = 500;
const CONNECT_MS = 2000;
const RETRY_MS_MAX = 2000;
/** A connection on which nothing is answered for this long after a command has failed so is given up. */
const SILENT_MS = 1000;

const CONNECTION = {
  commandTimeout: COMMAND_MS,
  connectTimeout: CONNECT_MS,
  maxRetriesPerRequest: 0,
  // A queued command would take effect long after its request was answered.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (times: number) => Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(times, 6)),
  // A replica was promoted or a primary was demoted, so a new connection is needed.
  reconnectOnError: (error: Error): 2 | false => (error.message.startsWith("READONLY") ? 2 : false),
  connectionName: "sallyport",
};

/** All keys and channels start with it. */
export const KEY_PREFIX = "sallyport:";

/** Creates a script from its source. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}

/**
 * Runs a script whose reply is a list that ends in its first key. Throws if it ends in anything else, so that no caller ever
 * takes the reply to another one.
 */
export async function askRedis(
  redis: Pick<SharedRedis, "run">,
  script: RedisScript,
  { keys, args }: { readonly keys: readonly string[]; readonly args: readonly (string | number)[] },
): Promise<unknown[]> {
  const reply = await redis.run(script, keys, args);
  if (!Array.isArray(reply) || reply.at(-1) !== keys[0]) throw new Error("Redis answered another question.");
  return reply;
}

/** Connects. Never throws, since failed connections are retried. */
export function connectRedis({ url, changed, problem }: RedisOptions): SharedRedis {
  const redis = new Redis(url, CONNECTION);
  const listeners: (() => void)[] = [];
  let up = false;
  let told = false;
  const settled = Promise.withResolvers<void>();
  const become = (isUp: boolean) => {
    settled.resolve();
    if (isUp) told = false;
    if (up === isUp) return;
    up = isUp;
    changed(isUp);
    if (isUp) for (const listener of listeners) listener();
  };
  redis.on("ready", () => become(true));
  redis.on("close", () => become(false));
  redis.on("error", (error) => {
    if (!told) problem(error);
    told = true;
  });
  const channel = (topic: string) => `${KEY_PREFIX}${redis.options.db ?? 0}:${topic}`;
  const messages = openMessages(redis);
  const silence = silenceOf(redis);
  return {
    isUp: () => up,
    run: async ({ source, sha1 }, keys, args) => {
      try {
        return await silence.watch(redis.evalsha(sha1, keys.length, ...keys, ...args));
      } catch (error) {
        // A Redis that was restarted has no scripts, so the command did not run.
        if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
        return await silence.watch(redis.eval(source, keys.length, ...keys, ...args));
      }
    },
    channel,
    listen: (topic, heard) => messages.listen(channel(topic), heard),
    whenUp(listener) {
      listeners.push(listener);
      if (up) listener();
    },
    settled: () => settled.promise,
    async close() {
      messages.close();
      redis.disconnect();
    },
  };
}

/**
 * Gives up a connection on which nothing is answered any more: a network that drops packets does not close it, and every
 * command would wait for its timeout.
 */
function silenceOf(redis: Redis) {
  let sinceMs: number | undefined;
  return {
    watch: async (command: Promise<unknown>): Promise<unknown> => {
      try {
        const reply = await command;
        sinceMs = undefined;
        return reply;
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes("timed out")) throw error;
        const nowMs = performance.now();
        sinceMs ??= nowMs;
        if (nowMs - sinceMs >= SILENT_MS) {
          sinceMs = undefined;
          redis.disconnect(true);
        }
        throw error;
      }
    },
  };
}

/** The connection that hears messages; it is opened for the first topic. */
function openMessages(redis: Redis) {
  const heardBy = new Map<string, ((message: string) => void)[]>();
  let connection: Redis | undefined;
  const subscribe = (channels: readonly string[]) => {
    if (connection?.status !== "ready" || channels.length === 0) return;
    // A connection that cannot subscribe is useless; a new one tries again.
    connection.subscribe(...channels).catch(() => connection?.disconnect(true));
  };
  const open = () => {
    const opened = redis.duplicate({ autoResubscribe: false, connectionName: "sallyport messages" });
    opened.on("ready", () => subscribe([...heardBy.keys()]));
    opened.on("message", (channel, message) => {
      for (const heard of heardBy.get(channel) ?? []) heard(message);
    });
    // The other connection reports what is wrong.
    opened.on("error", () => undefined);
    return opened;
  };
  return {
    listen(channel: string, heard: (message: string) => void): void {
      const known = heardBy.get(channel);
      if (known !== undefined) return void known.push(heard);
      heardBy.set(channel, [heard]);
      if (connection === undefined) connection = open();
      else subscribe([channel]);
    },
    close: () => connection?.disconnect(),
  };
}
