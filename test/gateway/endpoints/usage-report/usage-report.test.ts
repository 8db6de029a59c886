// GET /v1/usage: by every property, within what a management key may see, as JSON and as comma-separated values.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { answerUsageReport } from "../../../../src/gateway/endpoints/usage-report/report.ts";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { projectStore } from "../../../../src/store/access/projects.ts";
import type { ManagementScope } from "../../../../src/store/schema.ts";
import { UsageTally } from "../../../../src/store/usage/record.ts";
import type { ReportQuery } from "../../../../src/store/usage/report.ts";
import { usageStore } from "../../../../src/store/usage/usage.ts";
import { UsageWriter } from "../../../../src/store/usage/writer.ts";
import { usageRecord } from "../../../store/records.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";

type Json = Record<string, unknown>;

const NOW = Date.UTC(2030, 11, 10, 12, 30);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let app: TestApp;
let project: string;
const managers = {} as Record<ManagementScope, string>;

beforeAll(async () => {
  app = await startTestApp({ clock: { now: () => NOW } });
  const { accountId } = app;
  const rights = { tier: "free", admin: true } as const;
  const store = await app.openStore({ now: () => NOW });
  const root = await accountStore(store).createAccount({ username: "root", email: "root@x.example", ...rights });
  const admin = (root as { id: string }).id;
  const made = await projectStore(store).createProject(accountId, { name: "p" });
  project = (made as { id: string }).id;
  for (const management of ["account", "project", "all"] as const) {
    const projectId = management === "project" ? project : null;
    const owner = management === "all" ? admin : accountId;
    const made = await keyStore(store).createKey({ accountId: owner, name: management, management, projectId });
    managers[management] = (made as { key: string }).key;
  }
  const other = await accountStore(store).createAccount({ username: "o", email: "o@x.example", tier: "free" });
  const writer = new UsageWriter(usageStore(store));
  const used = (change: object) =>
    writer.record(usageRecord({ accountId, keyId: "k1", costMicros: 0, createdAtMs: NOW - 60_000, ...change }));
  const classes = (amount: number, costMicros?: number) => [{ name: "input", amount, costMicros }];
  used({ model: "m1", costMicros: 1_000_000, classes: classes(10, 1_000_000) });
  used({
    model: "m1",
    costMicros: 2_000_000,
    projectId: project,
    tags: ["x", "=y"],
    keyId: "k2",
    service: "flex",
    classes: classes(4, 2_000_000),
  });
  used({ model: "m2", unpriced: true, classes: classes(7) });
  used({ model: "m2", status: 500, errorCode: "x", inputTokens: 0, outputTokens: 0, createdAtMs: NOW - 2 * HOUR_MS });
  used({ model: "m1", costMicros: 4_000_000, createdAtMs: NOW - 20 * DAY_MS, classes: classes(1, 4_000_000) });
  used({
    model: "m1",
    costMicros: 8_000_000,
    accountId: (other as { id: string }).id,
    keyId: "k3",
    projectId: project,
  });
  await writer.close();
  await store.close();
});
afterAll(() => app.stop());

function get(query: string, { as = "account", accept = "*/*" }: { as?: ManagementScope; accept?: string } = {}) {
  const headers = { authorization: `Bearer ${managers[as]}`, accept };
  return app.call(`/v1/usage${query}`, { headers });
}

async function rows(query: string, as?: ManagementScope): Promise<Json[]> {
  const response = await get(query, as === undefined ? {} : { as });
  const body = (await response.json()) as { object: string; data: Json[] };
  expect([response.status, body.object]).toEqual([200, "list"]);
  return body.data;
}
const costs = async (by: string, as?: ManagementScope, more = "") =>
  (await rows(`?by=${by}&from=2030-12-01${more}`, as)).map((row) => [row[by], row["cost"]]);

test("by each property", async () => {
  expect(await rows("?by=model&from=2030-12-10")).toEqual([
    {
      model: "m1",
      requests: 2,
      errors: 0,
      input_tokens: 20,
      output_tokens: 10,
      cached_tokens: 4,
      cost: 3,
      unpriced: 0,
    },
    // Nothing of it had a price.
    {
      model: "m2",
      requests: 2,
      errors: 1,
      input_tokens: 10,
      output_tokens: 5,
      cached_tokens: 4,
      cost: null,
      unpriced: 1,
    },
  ]);
  expect(await costs("key")).toEqual([
    ["k1", 1],
    ["k2", 2],
  ]);
  expect(await costs("project")).toEqual([
    [project, 2],
    [null, 1],
  ]);
  expect(await costs("tag")).toEqual([
    ["=y", 2],
    ["x", 2],
  ]);
  expect(await costs("day")).toEqual([["2030-12-10", 3]]);
  expect((await rows("?by=hour")).map(({ hour, cost }) => [hour, cost])).toEqual([
    ["2030-12-10T10:00:00.000Z", 0],
    ["2030-12-10T12:00:00.000Z", 3],
  ]);
  // The last 30 days.
  expect((await rows("")).map(({ day }) => day)).toEqual(["2030-11-20", "2030-12-10"]);
});

test("of one model, of one key, and of hours of a day", async () => {
  expect(await costs("day", "account", "&model=m1&key=k1")).toEqual([["2030-12-10", 1]]);
  const early = await get("?by=model&from=2030-12-10T10:00:00Z&to=2030-12-10T11:00:00Z");
  const body = (await early.json()) as { from: string; to: string; data: Json[] };
  expect(body).toMatchObject({ from: "2030-12-10T10:00:00.000Z", to: "2030-12-10T11:00:00.000Z" });
  expect(body.data.map(({ model, errors }) => [model, errors])).toEqual([["m2", 1]]);
});

test("a key sees what it manages", async () => {
  expect(await costs("key", "all")).toEqual([
    ["k1", 1],
    ["k2", 2],
    ["k3", 8],
  ]);
  expect(await costs("key", "project")).toEqual([
    ["k2", 2],
    ["k3", 8],
  ]);
  expect(await costs("day", "project")).toEqual([["2030-12-10", 10]]);
  expect(await costs("project", "project")).toEqual([[project, 10]]);
  const ordinary = await app.call("/v1/usage");
  expect([ordinary.status, ((await ordinary.json()) as { error: Json }).error["code"]]).toEqual([
    403,
    "management_key_required",
  ]);
});

test("what providers bill, by month, model and class", async () => {
  const line = { provider: "p", model: "um", class: "input" };
  expect(await rows("?by=class", "all")).toEqual([
    { month: "2030-11", ...line, service: null, amount: 1, unpriced: 0, cost: 4 },
    { month: "2030-12", ...line, service: null, amount: 17, unpriced: 7, cost: 1 },
    { month: "2030-12", ...line, service: "flex", amount: 4, unpriced: 0, cost: 2 },
  ]);
  expect((await get("?by=class")).status).toBe(403);
  expect(await rows("?by=class&from=2028-01-01", "all")).toHaveLength(3);
});

test.each([
  ["from=2027-12-31", "from"],
  ["from=1970-01-01", "from"],
  ["model=m1", "model"],
  ["key=k1", "key"],
])("an invoice leaves nothing out in silence: ?%s is 400", async (query, param) => {
  const response = await get(`?by=class&${query}`, { as: "all" });
  const { error } = (await response.json()) as { error: Json };
  expect([response.status, error["param"]]).toEqual([400, param]);
});

test("as comma-separated values, which no spreadsheet runs", async () => {
  const response = await get("?by=tag", { accept: "text/csv" });
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(await response.text()).toBe(
    "tag,requests,errors,input_tokens,output_tokens,cached_tokens,cost,unpriced\r\n'=y,1,0,10,5,2,2,0\r\nx,1,0,10,5,2,2,0\r\n",
  );
});

test.each([
  ["by=month", "by"],
  ["from=yesterday", "from"],
  ["from=2030-12-10&to=2030-12-09", "from"],
  ["to=2030-13-01", "to"],
  ["by=hour&from=2030-11-01", "from"],
])("?%s: 400 that names the parameter", async (query, param) => {
  const response = await get(`?${query}`);
  const { error } = (await response.json()) as { error: Json };
  expect([response.status, error["code"], error["param"]]).toEqual([400, "invalid_request", param]);
});

test("a file that would lack rows is refused, and JSON says that there are more", async () => {
  const store = await app.openStore({ now: () => NOW });
  const account = await accountStore(store).createAccount({ username: "many", email: "m@x.example", tier: "free" });
  const accountId = (account as { id: string }).id;
  const made = await keyStore(store).createKey({ accountId, name: "m", management: "account" });
  const usage = usageStore(store);
  const tally = new UsageTally();
  for (let at = 0; at <= 10_000; at++)
    tally.add(usageRecord({ accountId, keyId: `k${at}`, createdAtMs: NOW - 60_000 }));
  await usage.writeUsage({ id: "many", rows: [], sums: [...tally.values()] });
  await store.close();
  const report = (query: string, accept: string) =>
    app.call(`/v1/usage${query}`, { headers: { authorization: `Bearer ${(made as { key: string }).key}`, accept } });
  const json = (await (await report("?by=key", "application/json")).json()) as { has_more: boolean; data: Json[] };
  expect([json.has_more, json.data.length]).toEqual([true, 10_000]);
  const refused = await report("?by=key", "text/csv");
  const { error } = (await refused.json()) as { error: Json };
  expect([refused.status, error["code"], error["param"]]).toEqual([400, "invalid_request", "from"]);
  expect(error["message"]).toContain("more than 10000 rows");
  expect((await report("?by=key&key=k7", "text/csv")).status).toBe(200);
});

test("what projects use while a report is read is no usage without a project", async () => {
  // Each statement finds one request of a project more.
  let inProject = 4;
  for (const without of [0, 3]) {
    const usage = {
      async sumsBy({ by }: ReportQuery) {
        inProject += 1;
        const requests = inProject + (by === "project" ? 0 : without);
        const inputTokens = 100 * inProject;
        const sums = { requests, errors: 0, inputTokens, outputTokens: 0, cachedTokens: 0, costMicros: 0, unpriced: 0 };
        return [{ start: 0, name: by === "project" ? "p" : "", ...sums }];
      },
      classesOf: () => Promise.reject(new Error("no invoice was asked for")),
    };
    const deps = { usage, writer: { flush: async () => true }, clock: { now: () => NOW } };
    const answer = await answerUsageReport(deps as never, new Request("http://x/v1/usage?by=project"), {});
    const { data } = (await answer.json()) as { data: Json[] };
    const rest = data.filter((row) => row["project"] === null);
    expect(rest.map((row) => [row["requests"], row["input_tokens"]])).toEqual(without === 0 ? [] : [[2, 0]]);
  }
});
