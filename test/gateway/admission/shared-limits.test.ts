// The program with Redis: its limits are stored there, it reports this, and it continues to work if Redis fails.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkRedis } from "../../../src/cli/doctor-redis.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../../support/redis.ts";

describe.skipIf(!HAS_REDIS)("with redis.url", () => {
  let redis: TestRedis;
  let app: TestApp;
  beforeAll(async () => {
    redis = await startRedis();
    app = await startTestApp({ key: { rpm: 3 }, config: { redis: { url: redis.url }, providers: { demo: {} } } });
  });
  afterAll(async () => {
    await app.stop();
    await redis.stop();
  });

  const chat = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
  const ask = async () => {
    const answer = await app.post("/v1/chat/completions", chat);
    await answer.text();
    return answer;
  };
  /** The part of `/health` about Redis. */
  const health = async () => {
    const body = (await (await fetch(`${app.url}/health`)).json()) as { subsystems: Record<string, unknown> };
    return body.subsystems["redis"];
  };
  const mode = async () => {
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    return /sallyport_limiter_mode\{mode="(\w+)"\} 1\b/.exec(metrics)?.[1];
  };

  test("requests are counted in Redis, and the count survives a restart of the program", async () => {
    expect(await health()).toEqual({ status: "ok", mode: "shared" });
    const first = await ask();
    expect([first.status, first.headers.get("x-ratelimit-remaining")]).toEqual([200, "2"]);
    await app.restart();
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const refused = await ask();
    expect([refused.status, refused.headers.get("x-ratelimit-limit")]).toEqual([429, "3"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await redis.ask("KEYS", "sallyport:rate:*")) as string[]).toHaveLength(1);
    expect(await mode()).toBe("shared");
  });

  test("without Redis the node continues alone, reports it, and reconnects by itself", async () => {
    await redis.kill();
    // The program notices by itself that the connection has ended.
    while (((await health()) as { mode: string }).mode !== "local") await Bun.sleep(20);
    expect(await health()).toEqual({ status: "degraded", mode: "local" });
    expect(await mode()).toBe("local");
    expect([200, 429]).toContain((await ask()).status);
    await redis.start();
    while (((await health()) as { mode: string }).mode !== "shared") await Bun.sleep(20);
    expect(await mode()).toBe("shared");
    await app.flushLogs();
    const said = app.logs.map(({ msg }) => msg);
    expect(said).toContain("limits are shared through Redis");
    expect(said).toContain("Redis cannot be reached; limits are kept by this node alone");
  });
});

test.skipIf(!HAS_REDIS)('with the setting "closed": 503 with Retry-After while Redis is unavailable', async () => {
  const redis = await startRedis();
  const app = await startTestApp({
    config: { redis: { url: redis.url, on_failure: "closed" }, providers: { demo: {} } },
  });
  await redis.kill();
  const body = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
  const answer = await app.post("/v1/chat/completions", body);
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(await answer.json()).toMatchObject({ error: { code: "server_busy" } });
  await app.stop();
  await redis.stop();
});

describe.skipIf(!HAS_REDIS)("sallyport doctor", () => {
  test("says whether Redis answers, and which limits apply until it does", async () => {
    const redis = await startRedis();
    expect(await checkRedis({ redis: { url: redis.url, onFailure: "local" } })).toEqual([
      { name: "redis", status: "ok", message: expect.stringContaining("answers") },
    ]);
    await redis.stop();
    const [gone] = await checkRedis({ redis: { url: redis.url, onFailure: "local" } });
    expect(gone).toMatchObject({ name: "redis", status: "failed" });
    expect(gone?.message).toMatch(/cannot be reached: .*ECONNREFUSED.*share of a limit/);
    expect(await checkRedis({ redis: { url: "", onFailure: "local" } })).toEqual([]);
  });
});
