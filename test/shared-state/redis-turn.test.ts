// Calls of one turn over a real Redis: they are sent as one, in their order, and each has its own answer.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { redisScript } from "../../src/shared-state/redis-script.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

const PUT = redisScript(`
redis.call('SET', KEYS[1], ARGV[1])
return {ARGV[1], KEYS[1]}
`);
const READ = redisScript("return {redis.call('GET', KEYS[1]) or '', #KEYS, #ARGV, KEYS[1]}");
const ADD = redisScript("return redis.call('INCR', KEYS[1])");
const SILENT = redisScript("redis.call('GET', KEYS[1])");
const NOTHING = redisScript("return redis.call('GET', KEYS[1])");

describe.skipIf(!HAS_REDIS)("calls of one turn", () => {
  let server: TestRedis;
  let node: RedisNode;
  let keys = 0;
  const newKey = () => `turn-${++keys}`;
  const run = (...call: Parameters<RedisNode["redis"]["run"]>) => node.redis.run(...call);
  /** How many scripts Redis has run. */
  const scripts = async () => {
    const told = String(await server.ask("INFO", "commandstats"));
    const of = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(told)?.[1] ?? 0);
    return of("evalsha") + of("eval");
  };

  beforeAll(async () => {
    server = await startRedis();
    node = await joinRedis(server.url);
  });
  afterAll(async () => {
    await node.redis.close();
    await server.stop();
  });

  test("run in their order, each with its own keys, arguments and answer", async () => {
    const [one, other] = [newKey(), newKey()];
    const replies = await Promise.all([
      run(PUT, [one], ["first"]),
      run(READ, [one, other], []),
      run(PUT, [one], ["second"]),
      run(NOTHING, [other], []),
      run(READ, [one], [1, "", "x"]),
    ]);
    expect(replies).toEqual([["first", one], ["first", 2, 0, one], ["second", one], null, ["second", 1, 3, one]]);
  });

  test("are one call for Redis, or one for each hundred", async () => {
    const key = newKey();
    const wave = (count: number) => Promise.all(Array.from({ length: count }, () => run(ADD, [key], [])));
    // From now on Redis knows the script.
    await wave(2);
    const before = await scripts();
    expect(await wave(40)).toEqual(Array.from({ length: 40 }, (_, n) => n + 3));
    expect((await scripts()) - before).toBe(1);
    expect((await wave(250)).at(-1)).toBe(292);
    expect((await scripts()) - before).toBe(4);
  });

  test("fail each for itself, with Redis's error", async () => {
    const [number, text] = [newKey(), newKey()];
    await run(PUT, [text], ["no number"]);
    const results = await Promise.allSettled([run(ADD, [number], []), run(ADD, [text], []), run(ADD, [number], [])]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({
      reason: { name: "ReplyError", message: expect.stringContaining("not an integer") },
    });
    expect(results[2]).toMatchObject({ value: 2 });
  });

  test("long arguments are not joined with others, and a script without a reply has the reply null", async () => {
    const key = newKey();
    const long = "x".repeat(60_000);
    await Promise.all([run(PUT, [key], ["a"]), run(SILENT, [key], [])]);
    const before = await scripts();
    const [one, other, nothing] = await Promise.all([
      run(PUT, [key], [long]),
      run(PUT, [key], [long]),
      run(SILENT, [key], []),
    ]);
    expect([one, other, nothing]).toEqual([[long, key], [long, key], null]);
    expect((await scripts()) - before).toBe(2);
  });

  test("begin a new connection when Redis has become a replica, as a single call does", async () => {
    const key = newKey();
    await Promise.all([run(ADD, [key], []), run(ADD, [key], [])]);
    let ups = 0;
    const reconnected = Promise.withResolvers<void>();
    node.redis.whenUp(() => {
      if (++ups === 2) reconnected.resolve();
    });
    await server.ask("REPLICAOF", "127.0.0.1", "1");
    const results = Promise.allSettled([run(ADD, [key], []), run(ADD, [key], [])]);
    await reconnected.promise;
    await results;
    await server.ask("REPLICAOF", "NO", "ONE");
    expect(await Promise.all([run(ADD, [key], []), run(ADD, [key], [])])).toEqual([3, 4]);
  });

  test("run also when Redis has forgotten its scripts, and fail together when it is gone", async () => {
    const key = newKey();
    await server.ask("SCRIPT", "FLUSH");
    expect(await Promise.all([run(ADD, [key], []), run(ADD, [key], [])])).toEqual([1, 2]);
    await server.kill();
    await node.becomes(false);
    const results = await Promise.allSettled([run(ADD, [key], []), run(ADD, [key], [])]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});
