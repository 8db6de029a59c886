// Agent runs in the dashboard's API, and the same for management keys: list, one run with its calls, and going on.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { auditStore } from "../../src/store/access/audit.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { projectStore } from "../../src/store/access/projects.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { say } from "../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: AccountsApp;
let holder: DashboardClient;
let other: DashboardClient;
let key: string;
let manager: string;
let holderId: string;

beforeAll(async () => {
  upstream = startUpstream((received) =>
    say(received, { text: "the answer", usage: { input: 100, output: 10, cached: 40 } }),
  );
  app = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 1000, runs: { requests: 2 } } },
      providers: { chat: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
      models: [
        { id: "m", tier: "free", routes: [{ provider: "chat", model: "up" }], prices: { input: 0, output: 1000 } },
      ],
    },
  });
  const signedIn = async (name: string) => {
    const { id } = await app.addAccount(name);
    const client = dashboardClient(app);
    await client.post("/login", { username_or_email: name, password: PASSWORD });
    return { client, id };
  };
  const own = await signedIn("holder");
  holder = own.client;
  holderId = own.id;
  other = (await signedIn("other")).client;
  key = (await holder.post("/keys", { name: "k" })).json.key;
  manager = (await keyStore(app.store).createKey({ accountId: own.id, name: "m", management: "account" })).key;
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** A request of a run. */
async function step(run: string, content = "Go.", as = key) {
  const body = { model: "m", messages: [{ role: "user", content }] };
  return app.ask("POST", "/v1/chat/completions", { as, body, headers: { "x-sallyport-run": run } });
}

/** The only run of this name, when so many of its calls are written. */
async function written(name: string, requests: number): Promise<Json> {
  for (;;) {
    const { data } = (await holder.get("/runs")).json as { data: Json[] };
    const found = data.find((run) => run["name"] === `x-sallyport-run: ${name}`);
    if (found?.["requests"] === requests) return found;
  }
}

test("a run is listed with its figures, shown with its calls, and goes on when its owner says so", async () => {
  for (const status of [200, 200, 402]) expect((await step("build")).status).toBe(status);
  const run = await written("build", 2);
  expect(run).toMatchObject({
    cost: 0.02,
    tokens: 220,
    cached_share: 0.4,
    routes: [{ route: "chat/up", calls: 2, cost: 0.02 }],
    stopped: { limit: "requests", spent: 2 },
  });
  const shown = async () => (await holder.get(`/runs/${run["id"]}`)).json as { run: Json; calls: Json[] };
  while ((await shown()).calls.length < 3);
  const { calls } = await shown();
  expect(calls.map(({ status, error, model }) => [status, error, model])).toEqual([
    [200, null, "m"],
    [200, null, "m"],
    [402, "run_limit_reached", "m"],
  ]);
  for (const path of [`/runs/${run["id"]}`, "/runs/none"]) expect((await other.get(path)).status).toBe(404);
  expect((await other.get("/runs")).json).toEqual({ data: [], next: null });
  expect((await other.post(`/runs/${run["id"]}/allow`)).status).toBe(404);
  expect((await holder.post(`/runs/${run["id"]}/allow`)).json).toMatchObject({ stopped: null });
  for (const status of [200, 200, 402]) expect((await step("build")).status).toBe(status);
});

test("a management key reads the runs of its account and lets them go on, an ordinary key does not", async () => {
  await step("nightly");
  const { id } = await written("nightly", 1);
  const ask = (method: string, path: string, more: { as?: string; body?: unknown } = {}) =>
    app.ask(method, path, { as: manager, ...more });
  const list = (await ask("GET", "/v1/runs?limit=1")).json as { data: Json[]; has_more: boolean };
  expect([list.data.map((run) => run["id"]), list.has_more]).toEqual([[id], true]);
  const rest = (await ask("GET", `/v1/runs?before=${id}`)).json as { data: Json[]; has_more: boolean };
  expect([rest.data.map((run) => run["name"]), rest.has_more]).toEqual([["x-sallyport-run: build"], false]);
  expect((await ask("GET", `/v1/runs/${id}`)).json).toMatchObject({ id, requests: 1, stopped: null });
  expect((await ask("POST", `/v1/runs/${id}/allow`, { body: { requests: 1 } })).json).toMatchObject({ id });
  for (const status of [200, 200, 402]) expect((await step("nightly")).status).toBe(status);
  for (const [path, body, status] of [
    ["/v1/runs/none/allow", {}, 404],
    [`/v1/runs/${id}/allow`, { usd: 0 }, 400],
    [`/v1/runs/${id}/allow`, { usd: "1" }, 400],
    [`/v1/runs/${id}/allow`, { requests: 1.5 }, 400],
  ] as const) {
    expect([path, body, (await ask("POST", path, { body })).status]).toEqual([path, body, status]);
  }
  const entries = await auditStore(app.store).listAudit(holderId);
  const allowed = entries.filter(({ event }) => event === "run_allowed").map(({ detail }) => detail);
  expect(allowed).toMatchObject([
    { run: id, name: "x-sallyport-run: nightly", requests: 1, by_key: expect.any(String), by_key_name: "m" },
    { name: "x-sallyport-run: build" },
  ]);
  expect((await ask("GET", "/v1/runs/none")).json).toMatchObject({ error: { code: "run_not_found" } });
  expect((await ask("GET", "/v1/runs?limit=0")).status).toBe(400);
  expect((await ask("GET", "/v1/runs", { as: key })).status).toBe(403);
});

test("a management key of a project has the runs of the project's keys alone", async () => {
  const project = await projectStore(app.store).createProject(holderId, { name: "p" });
  if (project === "too_many") throw new Error("no project");
  const make = async (name: string, management: "project" | null) =>
    (await keyStore(app.store).createKey({ accountId: holderId, name, management, projectId: project.id })).key;
  const [ofProject, managers] = [await make("in the project", null), await make("project's", "project")];
  await step("outside");
  await step("inside", "Go.", ofProject);
  const { id: outside } = await written("outside", 1);
  const { id: inside } = await written("inside", 1);
  const ask = (method: string, path: string) => app.ask(method, path, { as: managers });
  const { data } = (await ask("GET", "/v1/runs")).json as { data: Json[] };
  expect(data.map(({ id }) => id)).toEqual([inside]);
  for (const [id, status] of [
    [inside, 200],
    [outside, 404],
  ] as const) {
    expect((await ask("GET", `/v1/runs/${id}`)).status).toBe(status);
    expect((await ask("POST", `/v1/runs/${id}/allow`)).status).toBe(status);
  }
});
