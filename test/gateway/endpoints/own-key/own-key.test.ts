// The description of a key for its owner, in Sallyport's format and in OpenRouter's.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../../../src/base/clock.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { chatAnswer, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream(() => chatAnswer({ content: "hi" }, { extra: { usage: USAGE } }));
/** At one dollar per million input tokens and two per million output tokens, this costs 0.5 dollars. */
const USAGE = { prompt_tokens: 300_000, completion_tokens: 100_000, total_tokens: 400_000 };
const DAY_MS = 86_400_000;

let app: TestApp;
let clock: FakeClock;
let startMs: number;
const keys: Record<string, string> = {};

beforeAll(async () => {
  clock = new FakeClock();
  startMs = clock.now();
  app = await startTestApp({
    clock,
    tier: "free",
    key: { rpm: 7 },
    config: {
      usage: { flush: "1ms" },
      providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-up", discover: false } },
      models: [{ id: "priced", prices: { input: 1, output: 2 }, routes: [{ provider: "up", model: "m" }] }],
    },
  });
  const store = await app.openStore(clock);
  const make = async (name: string, more: object) => {
    keys[name] = (await keyStore(store).createKey({ accountId: app.accountId, name, ...more })).key;
  };
  await make("plain", {});
  await make("monthly", { budgetMicros: 2_000_000, budgetPeriodMs: 30 * DAY_MS, expiresAtMs: startMs + 90 * DAY_MS });
  await make("once", { budgetMicros: 1_000_000 });
  await store.close();
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const get = async (path: string, name: string) => {
  const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${keys[name]}` } });
  return { status: response.status, json: await response.json(), headers: response.headers };
};

describe("GET /v1/key", () => {
  test("a key without limits of its own", async () => {
    const { status, json, headers } = await get("/v1/key", "plain");
    expect(status).toBe(200);
    expect(headers.get("x-ratelimit-limit")).toBeNull();
    expect(json).toEqual({
      id: expect.any(String),
      name: "plain",
      tier: "free",
      rpm: expect.any(Number),
      tpm: null,
      parallel: null,
      budget: null,
      spent: 0,
      resets_at: null,
      expires_at: null,
      debug_until: null,
      models: ["*"],
    });
  });

  test("its own limit, also at the other address", async () => {
    const [one, other] = await Promise.all(["/v1/key", "/key/info"].map(async (path) => (await app.call(path)).json()));
    expect(one).toMatchObject({ rpm: 7 });
    expect(other).toEqual(one);
  });

  test("spending counts at once, and is reset with the period of the budget", async () => {
    const ask = await fetch(`${app.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys["monthly"]}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "priced", messages: [{ role: "user", content: "hi" }], max_tokens: 10 }),
    });
    expect(ask.status).toBe(200);
    await ask.text();
    const date = (days: number) => new Date(startMs + days * DAY_MS).toISOString();
    expect((await get("/v1/key", "monthly")).json).toMatchObject({
      budget: 2,
      spent: 0.5,
      resets_at: date(30),
      expires_at: date(90),
    });
    expect((await get("/api/v1/key", "monthly")).json).toMatchObject({
      data: { usage: 0.5, usage_daily: 0.5, usage_weekly: 0.5, usage_monthly: 0.5, limit_reset: "monthly" },
    });
    clock.advance(31 * DAY_MS);
    expect((await get("/v1/key", "monthly")).json).toMatchObject({ budget: 2, spent: 0, resets_at: date(60) });
    expect((await get("/api/v1/key", "monthly")).json).toMatchObject({
      data: { usage: 0.5, usage_daily: 0, usage_weekly: 0, usage_monthly: 0, limit_remaining: 2 },
    });
    expect((await get("/api/v1/credits", "monthly")).json).toEqual({ data: { total_credits: 2.5, total_usage: 0.5 } });
  });

  test("spending is told without a budget too", async () => {
    const ask = await fetch(`${app.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys["plain"]}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "priced", messages: [{ role: "user", content: "hi" }], max_tokens: 10 }),
    });
    await ask.text();
    expect((await get("/v1/key", "plain")).json).toMatchObject({ budget: null, spent: 0.5 });
    expect((await get("/api/v1/key", "plain")).json).toMatchObject({ data: { usage: 0.5, usage_daily: 0.5 } });
    expect((await get("/api/v1/credits", "plain")).json).toEqual({ data: { total_credits: 0, total_usage: 0.5 } });
  });

  test.each(["/v1/key", "/api/v1/key", "/api/v1/credits", "/api/v1/generation?id=x"])(
    "%s requires a key",
    async (path) => {
      expect((await fetch(app.url + path)).status).toBe(401);
    },
  );
});

describe("in OpenRouter's format", () => {
  test.each(["/api/v1/key", "/api/v1/auth/key"])("%s", async (path) => {
    expect((await get(path, "once")).json).toMatchObject({
      data: {
        label: "once",
        usage: 0,
        limit: 1,
        limit_remaining: 1,
        is_free_tier: true,
        rate_limit: { requests: expect.any(Number), interval: "1m", note: expect.any(String) },
      },
    });
    expect((await get(path, "plain")).json).toMatchObject({ data: { limit: null, limit_remaining: null } });
  });

  test("credits", async () => {
    expect((await get("/api/v1/credits", "once")).json).toEqual({ data: { total_credits: 1, total_usage: 0 } });
  });
});
