// What the usage page is told, by each dimension, and to whom.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { USAGE_DIMENSIONS } from "../../src/dashboard/contract-usage.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { spend } from "./spent.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;
let boss: DashboardClient;
let keyId: string;
let otherKeyId: string;
let projectId: string;
let today: string;

const DAY_MS = 86_400_000;

async function signedIn(name: string): Promise<DashboardClient> {
  const visitor = dashboardClient(app);
  await visitor.post("/login", { username_or_email: name, password: PASSWORD });
  return visitor;
}

beforeAll(async () => {
  app = await startAccountsApp();
  const [{ id: accountId }, { id: otherId }] = [await app.addAccount("spender"), await app.addAccount("other")];
  await app.addAccount("boss", { admin: true });
  client = await signedIn("spender");
  boss = await signedIn("boss");
  const other = await signedIn("other");
  keyId = (await client.post("/keys", { name: "laptop" })).json.id;
  otherKeyId = (await other.post("/keys", { name: "server" })).json.id;
  projectId = (await client.post("/projects", { name: "Search team" })).json.id;
  const used = { accountId, keyId, inputTokens: 100, outputTokens: 10, cachedTokens: 40, costMicros: 1500 };
  await spend(app, 0, { ...used, model: "alpha", projectId, tags: ["a", "b"] });
  await spend(app, 0, { ...used, model: "beta", costMicros: 0, unpriced: true });
  await spend(app, 2, { ...used, model: "alpha", status: 502, errorCode: "provider_unavailable", tags: ["a"] });
  await spend(app, 40, { ...used, model: "gamma" });
  await spend(app, 0, { ...used, model: "alpha", accountId: otherId, keyId: otherKeyId });
  today = new Date(app.clock.now()).toISOString().slice(0, 10);
});
afterAll(() => app.stop());

const TOTAL = {
  ...{ requests: 3, errors: 1, input_tokens: 300, output_tokens: 30, cached_tokens: 120 },
  ...{ cost_usd: 0.003, unpriced: 1 },
};

/** The rows of each dimension: id, name, requests and cost. */
const ROWS: readonly (readonly [by: string, rows: () => unknown[][]])[] = [
  [
    "day",
    () => [
      [new Date(app.clock.now() - 2 * DAY_MS).toISOString().slice(0, 10), "", 1, 0.0015],
      [today, "", 2, 0.0015],
    ],
  ],
  [
    "model",
    () => [
      ["alpha", "", 2, 0.003],
      ["beta", "", 1, null],
    ],
  ],
  ["key", () => [[keyId, "laptop", 3, 0.003]]],
  [
    "project",
    () => [
      [projectId, "Search team", 1, 0.0015],
      [null, "", 2, 0.0015],
    ],
  ],
  [
    "tag",
    () => [
      ["a", "", 2, 0.003],
      ["b", "", 1, 0.0015],
    ],
  ],
];

interface Row {
  readonly id: string | null;
  readonly name: string;
  readonly requests: number;
  readonly cost_usd: number | null;
}

test.each(ROWS)("by %s: the rows with their names, and the same totals", async (by, rows) => {
  const { status, json } = await client.get(`/usage-report?by=${by}`);
  expect([status, json.by, json.has_more]).toEqual([200, by, false]);
  expect(json.rows.map(({ id, name, requests, cost_usd }: Row) => [id, name, requests, cost_usd])).toEqual(rows());
  expect(json.total).toEqual(TOTAL);
});

test("by hour: the last day, and a cost that is not known at all is none", async () => {
  const { json } = await client.get("/usage-report?by=hour");
  const hour = `${new Date(app.clock.now()).toISOString().slice(0, 13)}:00:00.000Z`;
  expect(json.rows).toMatchObject([{ id: hour, requests: 2, cost_usd: 0.0015, unpriced: 1 }]);
  expect(Date.parse(json.to) - Date.parse(json.from)).toBeWithin(DAY_MS, DAY_MS + 2 * 3_600_000);
});

test("a span of days is chosen, and a wrong one is refused by name", async () => {
  const old = new Date(app.clock.now() - 40 * DAY_MS).toISOString().slice(0, 10);
  const { json } = await client.get(`/usage-report?by=model&from=${old}&to=${old}`);
  expect(json.rows).toMatchObject([{ id: "gamma", requests: 1 }]);
  expect(json.from).toBe(`${old}T00:00:00.000Z`);
  for (const [query, param] of [
    ["by=week", "by"],
    ["by=class", "by"],
    ["from=soon", "from"],
    [`from=${today}&to=${old}`, "from"],
    [`by=hour&from=${old}`, "from"],
  ]) {
    const { status, json: refused } = await client.get(`/usage-report?${query}`);
    expect([query, status, refused.error.param]).toEqual([query, 400, param]);
  }
});

test.each([...USAGE_DIMENSIONS])("by %s it is downloaded as comma-separated values", async (by) => {
  const { headers, text } = await client.get(`/usage-report?by=${by}&format=csv`);
  expect(headers.get("content-type")).toStartWith("text/csv");
  expect(headers.get("content-disposition")).toBe(`attachment; filename="sallyport-usage-by-${by}.csv"`);
  const [head, ...lines] = text.trim().split(/\r?\n/);
  expect(head).toBe(`${by},requests,errors,input_tokens,output_tokens,cached_tokens,cost,unpriced`);
  expect(lines).toHaveLength((await client.get(`/usage-report?by=${by}`)).json.rows.length);
});

test("operators see everybody's with the account of each key, members their own", async () => {
  expect((await client.get("/admin/usage-report")).status).toBe(404);
  expect((await dashboardClient(app).get("/usage-report")).status).toBe(401);
  expect((await boss.get("/usage-report")).json).toMatchObject({ rows: [], total: { requests: 0, cost_usd: 0 } });
  const { json } = await boss.get("/admin/usage-report?by=key");
  const byName = (json.rows as { name: string; account: string }[]).map(({ name, account }) => [name, account]);
  expect(byName.sort()).toEqual([
    ["laptop", "spender"],
    ["server", "other"],
  ]);
  expect(json.total.requests).toBe(4);
  const projects = (await boss.get("/admin/usage-report?by=project")).json.rows;
  expect(projects).toMatchObject([{ id: projectId, name: "Search team" }, { id: null }]);
});
