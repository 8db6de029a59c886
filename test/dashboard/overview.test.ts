// The figures of the overview, from rows of the last hour and of earlier days.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type UsageRecord, UsageTally } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;
let accountId: string;
let keyId: string;

const DAY_MS = 86_400_000;

beforeAll(async () => {
  app = await startAccountsApp();
  accountId = (await app.addAccount("spender")).id;
  await app.addAccount("other");
  client = dashboardClient(app);
  await client.post("/login", { username_or_email: "spender", password: PASSWORD });
  keyId = (await client.post("/keys", { name: "my key" })).json.id;
});
afterAll(() => app.stop());

async function used(model: string, daysAgo: number, more: Partial<UsageRecord> = {}): Promise<void> {
  const record: UsageRecord = {
    requestId: "r",
    accountId,
    keyId,
    model,
    provider: "p",
    upstreamModel: model,
    endpoint: "/v1/messages",
    status: 200,
    errorCode: null,
    inputTokens: 100,
    outputTokens: 10,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimated: false,
    costMicros: 1500,
    latencyMs: 20,
    ttfbMs: 5,
    stream: false,
    createdAtMs: app.clock.now() - daysAgo * DAY_MS,
    ...more,
  };
  const tally = new UsageTally();
  tally.add(record);
  await usageStore(app.store).writeUsage({
    id: crypto.randomUUID(),
    rows: [{ record, uid: crypto.randomUUID(), repeats: 1 }],
    sums: [...tally.values()],
  });
}

const HOUR_MS = 3_600_000;

test("a span without requests says so", async () => {
  for (const span of ["1h", "24h", "7d", "30d", "90d"]) {
    const { json } = await client.get(`/overview?span=${span}`);
    expect(json.total).toMatchObject({ requests: 0, errors: 0, cost_usd: 0 });
    expect(json.speed).toEqual({ p50_ms: null, p95_ms: null, first_p50_ms: null, first_p95_ms: null });
    expect([json.models, json.keys, json.failures]).toEqual([[], [], []]);
  }
});

test("sums stand by slot, model and key, beside those of the span before", async () => {
  await used("alpha", 0);
  await used("alpha", 6, { status: 502, errorCode: "provider_unavailable", costMicros: 0, cachedTokens: 50 });
  await used("beta", 2);
  await used("beta", 7);
  await used("beta", 20);
  const { status, json } = await client.get("/overview?span=7d");
  expect(status).toBe(200);
  expect([json.unit, json.starts.length]).toEqual(["hour", 168]);
  expect(json.starts.at(-1)).toBe(`${new Date(app.clock.now()).toISOString().slice(0, 13)}:00:00.000Z`);
  expect(json.total).toEqual({
    requests: 3,
    errors: 1,
    input_tokens: 300,
    output_tokens: 30,
    cached_tokens: 50,
    cost_usd: 0.003,
  });
  expect(json.before.requests).toBe(1);
  expect(json.models.map(({ model, requests }: { model: string; requests: number }) => [model, requests])).toEqual([
    ["alpha", 2],
    ["beta", 1],
  ]);
  expect(json.keys).toMatchObject([{ key: "my key", key_id: keyId, account: "", ...json.total }]);
  expect(json.cells.map(({ at, model }: { at: number; model: string }) => [at, model])).toEqual([
    [23, "alpha"],
    [119, "beta"],
    [167, "alpha"],
  ]);
  expect(json.failures).toMatchObject([{ model: "alpha", error: "provider_unavailable" }]);
  const { json: quarter } = await client.get("/overview?span=90d");
  expect([quarter.unit, quarter.starts.length, quarter.total.requests]).toEqual(["day", 90, 5]);
  expect((await client.get("/overview")).json.starts).toHaveLength(24);
});

test("the last hour is shown by minute, with the outcome of each request", async () => {
  await used("alpha", 0, { errorCode: "client_gone", costMicros: 0 });
  await used("gamma", 0, { costMicros: 0, latencyMs: 4000, ttfbMs: 900 });
  await used("gamma", 0, { createdAtMs: app.clock.now() - 2 * HOUR_MS });
  const { json } = await client.get("/overview?span=1h");
  expect([json.unit, json.starts.length, json.partial, json.before]).toEqual(["minute", 60, false, null]);
  // A request that its client stopped is not an error.
  expect(json.total).toMatchObject({ requests: 3, errors: 0, input_tokens: 300 });
  const of = (model: string) => json.models.find((one: { model: string }) => one.model === model);
  expect(of("alpha")).toMatchObject({ requests: 2, cost_usd: 0.0015 });
  // The price of the model is not known.
  expect(of("gamma")).toMatchObject({ requests: 1, cost_usd: null });
  expect(of("gamma").p50_ms).toBeWithin(3200, 5000);
  expect(of("gamma").first_p50_ms).toBeWithin(700, 1150);
  expect(json.speed.p95_ms).toBeWithin(3200, 5000);
  expect(json.speeds.filter(Boolean).length).toBeGreaterThan(0);
});

test("operators see everybody's, members their own", async () => {
  const other = dashboardClient(app);
  await other.post("/login", { username_or_email: "other", password: PASSWORD });
  expect((await other.get("/overview?span=90d")).json.total.requests).toBe(0);
  expect((await other.get("/admin/overview")).status).toBe(404);
  await app.addAccount("boss", { admin: true });
  const boss = dashboardClient(app);
  await boss.post("/login", { username_or_email: "boss", password: PASSWORD });
  for (const span of ["1h", "7d", "90d"]) {
    const [all, own] = [await boss.get(`/admin/overview?span=${span}`), await client.get(`/overview?span=${span}`)];
    expect(all.json.total).toEqual(own.json.total);
    expect(all.json.keys).toMatchObject([{ key: "my key", account: "spender" }]);
    expect(all.json.cells).toEqual(own.json.cells);
    expect(all.json.speed).toEqual(own.json.speed);
  }
});

test.each(["0", "2h", "365d", ""])("a span of %p is refused", async (span) => {
  expect((await client.get(`/overview?span=${span}`)).json.error.param).toBe("span");
});
