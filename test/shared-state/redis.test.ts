// The connection that nodes share: what happens when Redis hangs, and that messages are heard again after it restarts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { askRedis, connectRedis } from "../../src/shared-state/redis.ts";
import { redisScript } from "../../src/shared-state/redis-script.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

const ECHO = redisScript("redis.call('PUBLISH', ARGV[1], ARGV[2]) return {ARGV[2], KEYS[1]}");
const OTHER = redisScript("return {ARGV[1], 'another key'}");

describe.skipIf(!HAS_REDIS)("a connection", () => {
  let redis: TestRedis;
  let node: RedisNode;

  beforeAll(async () => {
    redis = await startRedis();
    node = await joinRedis(redis.url);
  });
  afterAll(async () => {
    await node?.redis.close();
    await redis?.stop();
  });

  const say = async (text: string) => {
    // A command that fails at once must not keep the loop busy.
    await new Promise((resolve) => setImmediate(resolve));
    return askRedis(node.redis, ECHO, { keys: ["key"], args: [node.redis.channel("test"), text] }).catch(() => []);
  };

  test("takes no reply that names another key", async () => {
    expect(await say("mine")).toEqual(["mine", "key"]);
    expect(askRedis(node.redis, OTHER, { keys: ["key"], args: ["x"] })).rejects.toThrow("another question");
  });

  test("to a Redis that hangs is given up, and made again when it answers", async () => {
    await redis.ask("CLIENT", "PAUSE", "4000", "ALL");
    const down = node.becomes(false);
    let isDown = false;
    void down.then(() => {
      isDown = true;
    });
    // Requests go on asking until they are told that there is no connection.
    while (!isDown) await say("hanging");
    expect(node.redis.isUp()).toBe(false);
    await node.becomes(true);
    expect(await say("back")).toEqual(["back", "key"]);
  }, 30_000);

  test("that is answered with errors is told of once, and once when it is not any more", async () => {
    const told: boolean[] = [];
    const own = connectRedis({
      ...{ url: redis.url, changed: () => undefined, problem: () => undefined },
      refusing: (isRefusing) => told.push(isRefusing),
    });
    await own.settled();
    const write = redisScript("redis.call('SET', KEYS[1], ARGV[1]) return {KEYS[1]}");
    const run = (script = write) => own.run(script, ["full"], ["x"]).catch(() => undefined);
    await redis.ask("CONFIG", "SET", "maxmemory", "1");
    for (let n = 0; n < 3; n++) await run();
    // What Redis still does says nothing of what it refuses.
    await run(redisScript("return {redis.call('GET', KEYS[1]), KEYS[1]}"));
    expect([told, own.isUp(), own.isServing()]).toEqual([[true], true, false]);
    await redis.ask("CONFIG", "SET", "maxmemory", "0");
    for (let n = 0; n < 3; n++) await run();
    expect([told, own.isServing()]).toEqual([[true, false], true]);
    await own.close();
  });

  test("that this program closes is not told as lost", async () => {
    const told: boolean[] = [];
    const own = connectRedis({
      ...{ url: redis.url, problem: () => undefined },
      changed: (isUp) => told.push(isUp),
    });
    await own.settled();
    await own.close();
    while (own.isUp()) await Bun.sleep(1);
    expect(told).toEqual([true]);
  });

  test("hears messages, also after Redis was restarted", async () => {
    const heard: string[] = [];
    node.redis.listen("test", (message) => heard.push(message));
    while (!heard.includes("one")) await say("one");
    await redis.kill();
    await node.becomes(false);
    await redis.start();
    await node.becomes(true);
    while (!heard.includes("two")) await say("two");
    expect(heard).toContain("two");
  }, 30_000);
});
