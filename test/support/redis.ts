// A private Redis server for a test, on loopback and without persistence. It can be killed and started again, empty, on
// the same port.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";

/** Whether Redis is installed here. */
export const HAS_REDIS = Bun.which("redis-server") !== null;

/** The running server. */
export interface TestRedis {
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, empty. */
  start(): Promise<void>;
  /** Runs one command. */
  ask(command: string, ...args: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts the server. Stop it in afterAll. */
export async function startRedis(): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-redis-"));
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = probe;
  probe.stop(true);
  const url = `redis://127.0.0.1:${port}`;
  let child: ReturnType<typeof Bun.spawn> | undefined;
  const ask = async (command: string, ...args: string[]): Promise<unknown> => {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  };
  const start = async () => {
    const own = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir];
    child = Bun.spawn(["redis-server", ...own], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    // It reports only in its log that it is ready, so it is queried until it answers.
    for (;;) {
      const answers = await ask("PING").catch(() => undefined);
      if (answers === "PONG") return;
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      await Bun.sleep(10);
    }
  };
  const kill = async () => {
    child?.kill("SIGKILL");
    await child?.exited;
  };
  await start();
  return {
    url,
    kill,
    start,
    ask,
    async stop() {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A node's connection to it. */
export interface RedisNode {
  readonly redis: SharedRedis;
  /** Unique. */
  readonly node: string;
  /** Resolves when the connection is as wanted. */
  becomes(isUp: boolean): Promise<void>;
}

/** Connects a node; resolves when it is connected. Close it in afterAll. */
export async function joinRedis(url: string): Promise<RedisNode> {
  const waiting: { isUp: boolean; resolve: () => void }[] = [];
  const redis = connectRedis({
    url,
    changed: (isUp) => {
      for (const one of waiting) if (one.isUp === isUp) one.resolve();
    },
    problem: () => undefined,
  });
  const becomes = async (isUp: boolean) => {
    if (redis.isUp() === isUp) return;
    await new Promise<void>((resolve) => waiting.push({ isUp, resolve }));
  };
  await becomes(true);
  return { redis, node: crypto.randomUUID(), becomes };
}
