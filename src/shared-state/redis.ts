// The connection to Redis that nodes share. It is tried again for ever; while it is down every command fails at once, so that
// a request never waits for it.

import { Redis } from "ioredis";

/** How to connect. */
export interface RedisOptions {
  /** `redis://` or `rediss://` */
  readonly url: string;
  /** Called when it becomes usable, and when it no longer is. */
  changed(isUp: boolean): void;
  /** Something went wrong; called once for each time that the connection is lost. */
  problem(error: unknown): void;
}

/** The connection. */
export interface SharedRedis {
  /** False while commands would fail. */
  isUp(): boolean;
  /** Runs a script atomically; throws where it did not run, or is not known to have. */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Resolves once it is connected, or has failed for the first time. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A script, by its source; its hash is made once. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** A command that takes longer has failed: a request waits for it. */
const COMMAND_MS = 500;
const CONNECT_MS = 2000;
const RETRY_MS_MAX = 2000;

/** Makes a script of its source. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}

/** Connects. Never throws: what is down is tried again. */
export function connectRedis({ url, changed, problem }: RedisOptions): SharedRedis {
  const redis = new Redis(url, {
    commandTimeout: COMMAND_MS,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    // A queued command would count long after its request was answered.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(times, 6)),
    // A replica that was promoted, or a primary that was demoted: connect anew.
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
        // A Redis that was restarted knows no scripts: the command did not run.
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
