// API keys in the dashboard, through the HTTP edge.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp({ config: { tiers: { free: { rpm: 5 } } } });
  await app.addAccount("holder");
  await app.addAccount("other");
  await app.addAccount("boss", { admin: true });
  client = await signedIn("holder");
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const one = dashboardClient(app);
  await one.post("/login", { username_or_email: name, password: PASSWORD });
  return one;
}

const models = async (key: string) => (await app.ask("GET", "/v1/models", { as: key })).status;

test("a key is shown once, works, and ends at once when it is revoked", async () => {
  const { status, json } = await client.post("/keys", { name: " laptop " });
  expect([status, Object.keys(json).sort()]).toEqual([200, ["id", "key"]]);
  expect(await models(json.key)).toBe(200);
  const { text, json: listed } = await client.get("/keys");
  expect(text).not.toContain(json.key);
  expect(listed.data[0]).toMatchObject({ id: json.id, name: "laptop", rpm: null, revoked_at: null });
  expect(listed.data[0].key).toBe(`${json.key.slice(0, 7)}…${json.key.slice(-4)}`);

  const thief = await signedIn("other");
  expect((await thief.delete(`/keys/${json.id}`)).json.error.code).toBe("key_not_found");
  expect((await thief.get("/keys")).json.data).toEqual([]);
  expect(await models(json.key)).toBe(200);

  expect((await client.delete(`/keys/${json.id}`)).json).toEqual({ success: true });
  expect(await models(json.key)).toBe(401);
  expect((await client.delete(`/keys/${json.id}`)).status).toBe(404);
});

test("limits are kept as they were given", async () => {
  const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
  const wanted = { name: "limited", rpm: 3, expires_at, budget_usd: 1.5, budget_period_days: 30 };
  const { json } = await client.post("/keys", wanted);
  const { data } = (await client.get("/keys")).json;
  const listed = data.find(({ id }: { id: string }) => id === json.id);
  expect(listed).toMatchObject({ ...wanted, spent_usd: 0 });
});

test.each([
  ["no name", {}, "name"],
  ["a blank name", { name: "  " }, "name"],
  ["a long name", { name: "x".repeat(101) }, "name"],
  ["no requests", { name: "k", rpm: 0 }, "rpm"],
  ["half a request", { name: "k", rpm: 1.5 }, "rpm"],
  ["a number as text", { name: "k", rpm: "3" }, "rpm"],
  ["more than the plan", { name: "k", rpm: 6 }, "rpm"],
  ["an expiry that is over", { name: "k", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
  ["no time", { name: "k", expires_at: "tomorrow" }, "expires_at"],
  ["a negative budget", { name: "k", budget_usd: -1 }, "budget_usd"],
  ["a period without a budget", { name: "k", budget_period_days: 3 }, "budget_usd"],
])("%s is refused with its field", async (_what, body, param) => {
  const { status, json } = await client.post("/keys", body);
  expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_request", param]);
});

test("an operator may go beyond the plan", async () => {
  const boss = await signedIn("boss");
  expect((await boss.post("/keys", { name: "fast", rpm: 6 })).status).toBe(200);
});

test("the models are those that are listed, with what the plan allows", async () => {
  const { json } = await client.get("/models");
  expect(json.data).toEqual([expect.objectContaining({ id: "demo-echo", usable: true })]);
});
