// What the usage page is told, by real requests and by rows of other days.

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

test("sums stand by day, model and key, beside those of the span before", async () => {
  await used("alpha", 0);
  await used("alpha", 6, { status: 502, errorCode: "provider_unavailable", costMicros: 0 });
  await used("beta", 2);
  await used("beta", 7);
  await used("beta", 20);
  const { status, json } = await client.get("/usage?days=7");
  expect(status).toBe(200);
  expect(json.days).toHaveLength(7);
  expect(json.days.at(-1)).toBe(new Date(app.clock.now()).toISOString().slice(0, 10));
  expect(json.total).toEqual({ requests: 3, errors: 1, input_tokens: 300, output_tokens: 30, cost_usd: 0.003 });
  expect(json.before).toMatchObject({ requests: 1 });
  expect(json.models.map(({ model, requests }: { model: string; requests: number }) => [model, requests])).toEqual([
    ["alpha", 2],
    ["beta", 1],
  ]);
  expect(json.keys).toEqual([{ key: "my key", ...json.total }]);
  expect(json.cells).toHaveLength(3);
  for (const { day } of json.cells) expect(json.days).toContain(day);
});

test("sums stand by hour and model, beside how fast answers were", async () => {
  const { status, json } = await client.get("/usage/hours?hours=49");
  expect(status).toBe(200);
  expect(json.hours).toHaveLength(49);
  expect(json.total).toMatchObject({ requests: 2, errors: 0, cost_usd: 0.003 });
  expect(json.cells).toMatchObject([
    { hour: json.hours[0], model: "beta", requests: 1 },
    { hour: json.hours.at(-1), model: "alpha", requests: 1 },
  ]);
  expect(json.latency.p50_ms).toBeWithin(15, 26);
  const hour = (await client.get("/usage/hours?hours=1")).json;
  expect(hour.total.requests).toBe(1);
});

test("the latest requests are listed in pages, newest first", async () => {
  for (let i = 0; i < 30; i++) await used("gamma", 0, { requestId: `g-${i}` });
  const first = (await client.get("/requests")).json.data;
  expect([first.length, first[0].request_id, first[0].key]).toEqual([25, "g-29", "my key"]);
  const next = (await client.get(`/requests?before=${first.at(-1).id}`)).json.data;
  expect(next[0].request_id).toBe("g-4");
  expect(next.at(-1)).toMatchObject({ model: "alpha", cost_usd: 0.0015, error: null });
});

test("nobody sees another's", async () => {
  const other = dashboardClient(app);
  await other.post("/login", { username_or_email: "other", password: PASSWORD });
  expect((await other.get("/usage")).json.total.requests).toBe(0);
  expect((await other.get("/requests")).json.data).toEqual([]);
});

test.each(["0", "367", "x", "1.5", "-3"])("a span of %s days is refused", async (days) => {
  expect((await client.get(`/usage?days=${days}`)).json.error.param).toBe("days");
});
