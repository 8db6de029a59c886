// The connection to Redis that nodes share. Connecting is retried forever. While there is no connection, every command
// fails at once, so that no request waits for it.

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

/** Creates a script from its source. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}

/** Connects. Never throws, since failed connections are retried. */
export function connectRedis({ url, changed, problem }: RedisOptions): SharedRedis {
  const redis = new Redis(url, {
    commandTimeout: COMMAND_MS,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    // A queued command would take effect long after its request was answered.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(times, 6)),
    // A replica was promoted or a primary was demoted, so a new connection is needed.
    reconnectOnError: (error) => (error.message.startsWith("READONLY") ? 2 : false),
    connectionName: "sallyport",
  });
  let up = false;
  let told = false;
  const settled = Promise.withResolvers<void>();
  const become = (isUp: boolean) => {
    settled.resolve();
    if (isUp) told = false;
    if (up === isUp) return;
    up = isUp;
    changed(isUp);
  };
  redis.on("ready", () => become(true));
  redis.on("close", () => become(false));
  redis.on("error", (error) => {
    if (!told) problem(error);
    told = true;
  });
  return {
    isUp: () => up,
    async run({ source, sha1 }, keys, args) {
      try {
        return await redis.evalsha(sha1, keys.length, ...keys, ...args);
      } catch (error) {
        // A Redis that was restarted has no scripts, so the command did not run.
        if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
        return await redis.eval(source, keys.length, ...keys, ...args);
      }
    },
    settled: () => settled.promise,
    async close() {
      redis.disconnect();
    },
  };
}
