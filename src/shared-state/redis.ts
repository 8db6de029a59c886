// The connection to Redis that nodes share, and a second one that hears their messages: a connection that listens cannot run
// commands. Connecting is retried forever. While there is no connection, every command fails at once, so that no request
// waits for it.

import { Redis } from "ioredis";
import type { RedisScript } from "./redis-script.ts";
import { gatherCalls } from "./redis-turn.ts";

/** How to connect. */
export interface RedisOptions {
  /** `redis://` or `rediss://` */
  readonly url: string;
  /** Called when the connection becomes usable, and when it no longer is. */
  changed(isUp: boolean): void;
  /** Called with an error, once for each loss of the connection. */
  problem(error: unknown): void;
  /** Called when Redis begins to answer with errors, with the first one, and when it ceases to; it is reachable meanwhile. */
  refusing?(isRefusing: boolean, error?: unknown): void;
}

/** The connection. */
export interface SharedRedis {
  /** False while commands would fail. */
  isUp(): boolean;
  /** False also while it answers with errors: it is full, read-only, or the user may not do what is needed. */
  isServing(): boolean;
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

/** A command that takes longer counts as failed, since a request waits for it. */
const COMMAND_MS = 500;
const CONNECT_MS = 2000;
const RETRY_MS_MAX = 2000;
/** A connection on which nothing is answered for this long after a command has failed so is given up. */
const SILENT_MS = 1000;

/** How long an answer with an error counts. */
const REFUSAL_MS = 30_000;

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
export function connectRedis({ url, changed, problem, refusing }: RedisOptions): SharedRedis {
  const redis = new Redis(url, CONNECTION);
  const listeners: (() => void)[] = [];
  let up = false;
  let told = false;
  let isClosing = false;
  const refusals = refusalsOf(refusing ?? (() => undefined));
  const settled = Promise.withResolvers<void>();
  const become = (isUp: boolean) => {
    settled.resolve();
    if (isUp) told = false;
    if (up === isUp) return;
    up = isUp;
    refusals.forget();
    // It was closed because the program stops.
    if (isClosing) return;
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
  const gathered = gatherCalls(async ({ source, sha1 }, keys, args) => {
    try {
      return await silence.watch(redis.evalsha(sha1, keys.length, ...keys, ...args));
    } catch (error) {
      // A Redis that was restarted has no scripts, so the command did not run.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return await silence.watch(redis.eval(source, keys.length, ...keys, ...args));
    }
  });
  return {
    isUp: () => up,
    isServing: () => up && !refusals.isRefusing(),
    run: (script, keys, args) => refusals.watch(script, () => gathered.run(script, keys, args)),
    channel,
    listen: (topic, heard) => messages.listen(channel(topic), heard),
    whenUp(listener) {
      listeners.push(listener);
      if (up) listener();
    },
    settled: () => settled.promise,
    async close() {
      isClosing = true;
      gathered.flush();
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

/**
 * Notes which scripts Redis answers with errors. Each stands for itself: a Redis that is full still removes. One that was not run
 * again for a while counts no more.
 */
function refusalsOf(told: NonNullable<RedisOptions["refusing"]>) {
  const refused = new Map<string, number>();
  let isTold = false;
  const tell = (isRefusing: boolean, error?: unknown) => {
    if (isRefusing !== isTold) told(isRefusing, error);
    isTold = isRefusing;
  };
  const isRefusing = () => {
    const sinceMs = performance.now() - REFUSAL_MS;
    for (const [sha1, atMs] of refused) if (atMs < sinceMs) refused.delete(sha1);
    return refused.size > 0;
  };
  return {
    isRefusing,
    /** The connection was lost or is new, which is told by itself. */
    forget: () => {
      refused.clear();
      isTold = false;
    },
    watch: async ({ sha1 }: RedisScript, run: () => Promise<unknown>): Promise<unknown> => {
      try {
        const reply = await run();
        if (isTold) {
          refused.delete(sha1);
          tell(isRefusing());
        }
        return reply;
      } catch (error) {
        if (error instanceof Error && error.name === "ReplyError") {
          refused.set(sha1, performance.now());
          tell(true, error);
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
