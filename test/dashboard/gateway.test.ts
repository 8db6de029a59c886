// The overview of the gateway for operators, through the HTTP API and in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { rememberProxy } from "../../src/status/untrusted-proxy.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { sampleServer } from "../mcp/sample-tools.ts";
import { withClient } from "../mcp/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { spend } from "./spent.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const SLOW_MS = 60_000;
/** An address where nothing answers. The provider's breaker opens with the second failure. */
const UNREACHABLE = {
  kind: "openai",
  base_url: "http://127.0.0.1:9/v1",
  discover: false,
  retry: { attempts: 1 },
  breaker: { failures: 2 },
};
let app: AccountsApp;
let boss: DashboardClient;
let accountId: string;

const handler = createMcpHandler(() => sampleServer());
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => handler.fetch(request) });
afterAll(async () => {
  await handler.close();
  await server.stop(true);
});

beforeAll(async () => {
  const config = {
    mcp: {
      servers: {
        sample: { url: `http://127.0.0.1:${server.port}/mcp`, tools: ["echo"] },
        absent: { command: ["/nowhere/server"] },
      },
    },
    providers: {
      gone: UNREACHABLE,
      away: UNREACHABLE,
      demo: { kind: "demo" },
    },
    models: [
      { id: "fast", routes: [{ provider: "gone", model: "upstream-fast" }] },
      { id: "faster", routes: [{ provider: "away", model: "upstream-fast" }] },
    ],
  };
  app = await startAccountsApp({ config });
  await app.addAccount("boss", { admin: true });
  accountId = (await app.addAccount("member")).id;
  boss = await signedIn("boss");
  // Written before any test reads usage, since past days are cached.
  const leaver = (await app.addAccount("leaver")).id;
  await spend(app, 0, { accountId, model: "alpha", inputTokens: 100, outputTokens: 10, costMicros: 2000 });
  await spend(app, 3, { accountId: leaver, model: "alpha", inputTokens: 50, outputTokens: 5, costMicros: 1000 });
  await spend(app, 4, {
    accountId,
    model: "beta",
    errorCode: "provider_timeout",
    inputTokens: 0,
    outputTokens: 0,
    costMicros: 0,
  });
  await spend(app, 9, { accountId, model: "beta", inputTokens: 1, outputTokens: 1, costMicros: 0 });
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return client;
}

const ask = (model: string) =>
  app.ask("POST", "/v1/chat/completions", {
    as: app.app.key,
    body: { model, messages: [{ role: "user", content: "hi" }] },
  });

test("to who is no admin there is nothing", async () => {
  const member = await signedIn("member");
  for (const path of ["/admin/gateway", "/admin/usage?days=7", "/admin/usage/hours"]) {
    const { status, json } = await member.get(path);
    expect([path, status, json.error.code]).toEqual([path, 404, "route_not_found"]);
  }
});

test("a provider that fails is shown with its breaker and its last failure", async () => {
  const provider = async (name: string) => {
    const { providers } = (await boss.get("/admin/gateway")).json;
    return providers.find((one: { name: string }) => one.name === name);
  };
  expect(await provider("gone")).toEqual({
    name: "gone",
    kind: "openai",
    models: 1,
    breaker: { state: "closed", failures: 0, opened_at: null },
    last_error: null,
  });
  expect((await ask("fast")).status).toBe(502);
  expect(await provider("gone")).toMatchObject({
    breaker: { state: "closed", failures: 1 },
    last_error: { kind: "unavailable", status: 0, at: expect.any(String) },
  });
  await ask("fast");
  expect((await provider("gone")).breaker).toMatchObject({ state: "open", opened_at: expect.any(String) });
  // One subsystem of each kind.
  expect(await provider("demo")).toMatchObject({ breaker: null, last_error: null, models: 6 });
});

test("MCP servers are shown with their tools and calls", async () => {
  const rows = async () => (await boss.get("/admin/gateway")).json.mcp_servers;
  const unused = { status: "unused", error: null, tools: null, calls: 0, failed_calls: 0 };
  expect(await rows()).toEqual([
    { name: "sample", kind: "http", auto: false, ...unused },
    { name: "absent", kind: "program", auto: false, ...unused },
  ]);
  await withClient(app.app, async (client) => {
    await client.listTools();
    await client.call("sample__echo");
  });
  expect(await rows()).toMatchObject([
    { name: "sample", status: "up", tools: 1, calls: 1, failed_calls: 0 },
    { name: "absent", status: "down", tools: null, error: 'The MCP server "absent" cannot be reached.' },
  ]);
});

test("the parts of the program are shown", async () => {
  const { json } = await boss.get("/admin/gateway");
  expect(json.version).toBe((await app.ask("GET", "/health")).json.version);
  expect(json.uptime_seconds).toBeGreaterThanOrEqual(0);
  expect(json.subsystems).toContainEqual({ name: "database", status: "ok" });
  const note = "files in outbox/, no email.smtp_url";
  expect(json.subsystems).toContainEqual({ name: "mail", status: "ok", note });
  expect(json.database.bytes).toBeGreaterThan(4096);
  expect(json.web).toContainEqual({ what: "jobs", running: 0, waiting: 0 });
});

test("an unlisted proxy is reported", async () => {
  const proxy = async () => (await boss.get("/admin/gateway")).json.untrusted_proxy;
  expect(await proxy()).toBeNull();
  await rememberProxy(settingsStore(app.store), app.clock, "172.17.0.1");
  expect(await proxy()).toBe("172.17.0.1");
});

test("usage is everybody's, a deleted account's included", async () => {
  const read = async () => (await boss.get("/admin/usage?days=7")).json;
  const ours = (report: { models: { model: string }[] }) =>
    report.models.filter(({ model }) => model === "alpha" || model === "beta");
  const before = await read();
  expect(before.days).toHaveLength(7);
  expect(before.before).toMatchObject({ requests: 1, input_tokens: 1 });
  expect(ours(before)).toMatchObject([
    { model: "beta", requests: 1, errors: 1 },
    { model: "alpha", requests: 2, input_tokens: 150, output_tokens: 15, cost_usd: 0.003 },
  ]);
  expect(
    before.cells.find(({ day, model }: { day: string; model: string }) => model === "alpha" && day === before.days[3]),
  ).toMatchObject({ requests: 1, input_tokens: 50 });
  // The words for a cost are those of every page: nothing to pay for, or no price known.
  const costs = Object.fromEntries(
    before.cells.map(({ model, cost_usd }: { model: string; cost_usd: number | null }) => [model, cost_usd]),
  );
  expect([costs["beta"], costs["alpha"]]).toEqual([0, 0.002]);
  const wide = (await boss.get("/admin/usage?days=30")).json;
  const beta = wide.models.find(({ model }: { model: string }) => model === "beta");
  expect(beta).toMatchObject({ input_tokens: 1, cost_usd: null });
  const other = await signedIn("leaver");
  await other.post("/account/delete", { username: "leaver" });
  expect(ours(await read())).toEqual(ours(before));
  expect((await boss.get("/admin/usage?days=0")).json.error.param).toBe("days");
});

test("an answer that is not measured in tokens costs nothing only if its price is known", async () => {
  const unmeasured = { accountId, inputTokens: 0, outputTokens: 0, costMicros: 0 };
  await spend(app, 0, { ...unmeasured, requestId: "r-picture", model: "pictures" });
  await spend(app, 0, {
    ...unmeasured,
    requestId: "r-refused",
    model: "sounds",
    status: 400,
    errorCode: "invalid_request",
  });
  const { models } = (await boss.get("/admin/usage?days=7")).json;
  const costs = models.map(({ model, cost_usd }: { model: string; cost_usd: number | null }) => [model, cost_usd]);
  expect(Object.fromEntries(costs)).toMatchObject({ pictures: null, sounds: 0 });
  const { json } = await boss.get("/admin/log");
  const shown = json.data.map(({ request_id: id, cost_usd }: { request_id: string; cost_usd: number | null }) => [
    id,
    cost_usd,
  ]);
  expect(Object.fromEntries(shown)).toMatchObject({ "r-picture": null, "r-refused": 0 });
});

test("latencies of all accounts are shown by day and by hour", async () => {
  const other = (await app.addAccount("slow")).id;
  const hours = async (query = "") => (await boss.get(`/admin/usage/hours${query}`)).json;
  for (const latencyMs of [3, 3, 3]) spend(app, 0, { accountId, model: "gamma", latencyMs });
  spend(app, 0, { accountId: other, model: "gamma", latencyMs: 1_000_000 });
  const { latency } = (await boss.get("/admin/usage?days=7")).json;
  expect(latency.p50_ms).toBeLessThan(10_000);
  expect(latency.p95_ms).toBeGreaterThan(800_000);
  const after = await hours();
  expect(after.hours).toHaveLength(24);
  expect(after.hours.at(-1)).toBe(new Date(app.clock.now()).toISOString().slice(0, 13));
  // Requests of the tests above may be written meanwhile, so the total is compared with the cells of the same answer.
  const requests = after.cells.map((cell: { requests: number }) => cell.requests);
  expect(after.total.requests).toBe(requests.reduce((sum: number, one: number) => sum + one, 0));
  expect(after.latency.p95_ms).toBeGreaterThan(800_000);
  const isGamma = ({ model }: { model: string }) => model === "gamma";
  expect(after.cells.filter(isGamma)).toMatchObject([{ hour: after.hours.at(-1), requests: 4 }]);
  expect((await hours("?hours=1")).hours).toHaveLength(1);
  for (const wrong of ["0", "169", "x"]) expect((await hours(`?hours=${wrong}`)).error.param).toBe("hours");
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  test.each([390, 1440])(
    "at %i px an operator sees what fails, and what is used over which span",
    async (width) => {
      for (const _failure of [1, 2]) await ask("faster");
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/admin`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Gateway" }).waitFor();
      const row = page.getByRole("row").filter({ hasText: "away" });
      await row.getByText("open", { exact: true }).waitFor();
      expect(await row.textContent()).toContain("unavailable");
      await page.getByText("database: ok").waitFor();
      await page.getByRole("button", { name: "90 days" }).click();
      await page.getByRole("button", { name: "Cost" }).click();
      await page.getByRole("img", { name: "Cost by day" }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
