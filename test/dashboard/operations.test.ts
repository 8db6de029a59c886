// Providers, search engines, storage, the audit log and the configuration for operators, through the HTTP API.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OperationsApiDeps, operationsApi } from "../../src/dashboard/server/operations-api.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let boss: DashboardClient;
let upstream: ReturnType<typeof startUpstream>;

const GOOD_KEY = "sk-good-key-of-the-provider";

/** A provider that accepts one key and lists two models. */
function startUpstream() {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      if (request.headers.get("authorization") !== `Bearer ${GOOD_KEY}`)
        return Response.json({ error: { message: "bad key" } }, { status: 401 });
      if (request.url.endsWith("/models")) return Response.json({ data: [{ id: "m-1" }, { id: "m-2" }] });
      const message = { role: "assistant", content: "hi" };
      return Response.json({
        id: "c",
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    stop: () => server.stop(true),
  };
}

beforeAll(async () => {
  upstream = startUpstream();
  const entry = { kind: "openai", base_url: upstream.url, retry: { attempts: 1 } };
  app = await startAccountsApp({
    config: {
      providers: {
        good: { ...entry, api_key: GOOD_KEY },
        mixed: { ...entry, api_keys: [GOOD_KEY, "sk-bad-key-of-the-provider"], discover: false },
        refused: { ...entry, api_key: "sk-bad-key-of-the-provider" },
        gone: { ...entry, base_url: "http://127.0.0.1:9/v1", discover: false, breaker: { failures: 1 } },
        demo: { kind: "demo" },
      },
      models: [{ id: "lost", routes: [{ provider: "gone", model: "x" }] }],
      search: { only: ["searxng"], engines: { searxng: { base_url: upstream.url } } },
    },
  });
  await app.addAccount("boss", { admin: true });
  await app.addAccount("member");
  boss = await signedIn("boss");
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return client;
}

const provider = async (name: string) =>
  (await boss.get("/admin/providers")).json.data.find((one: { name: string }) => one.name === name);

test("to who is no admin there is nothing", async () => {
  const member = await signedIn("member");
  for (const path of ["providers", "engines", "storage", "audit", "config"]) {
    const { status, json } = await member.get(`/admin/${path}`);
    expect([path, status, json.error.code]).toEqual([path, 404, "route_not_found"]);
  }
  for (const path of ["providers/good/test", "providers/good/reset", "engines/searxng/test"])
    expect([path, (await member.post(`/admin/${path}`)).status]).toEqual([path, 404]);
});

test("a provider is shown with its keys counted, its list, its breaker, and no key", async () => {
  expect(await provider("good")).toMatchObject({
    kind: "openai",
    base_url: upstream.url,
    credentials: 1,
    breaker: { state: "closed", failures: 0, failures_max: 5 },
  });
  expect(await provider("mixed")).toMatchObject({ credentials: 2, list: { state: "off", models: 0 } });
  expect(await provider("demo")).toMatchObject({ base_url: "", credentials: 0, breaker: null });
  const { text } = await boss.get("/admin/providers");
  for (const key of [GOOD_KEY, "sk-bad-key"]) expect(text).not.toContain(key);
});

test("a test asks with each key, says what to do, and ends what failed before", async () => {
  const run = async (name: string) => (await boss.post(`/admin/providers/${name}/test`)).json;
  expect(await run("good")).toMatchObject({
    status: "ok",
    message: `${upstream.url}/models lists 2 models`,
    ms: expect.any(Number),
  });
  const mixed = await run("mixed");
  expect(mixed.status).toBe("failed");
  expect(mixed.message).toContain("refused the key: check providers.mixed.api_key");
  expect(mixed.message).toContain("key 2 of 2; 1 of them are accepted");
  expect((await run("gone")).message).toContain("cannot be reached");
  expect(await run("demo")).toMatchObject({ status: "ok", message: "built in" });
  expect((await boss.post("/admin/providers/nothing/test")).json.error.code).toBe("route_not_found");
});

test("several tests of one thing at once are one", async () => {
  let asked = 0;
  const answered = Promise.withResolvers<{ hits: number; ms: number; error: undefined }>();
  const probeEngine = () => {
    asked++;
    return answered.promise;
  };
  const deps = { operations: { probeEngine }, clock: app.clock } as unknown as OperationsApiDeps;
  const run = operationsApi(deps).find(({ path }) => path === "/admin/engines/:name/test")!.run as (
    visit: unknown,
  ) => Promise<unknown>;
  const all = [1, 2, 3].map(() => run({ params: { name: "e" }, request: new Request("http://x/") }));
  answered.resolve({ hits: 2, ms: 1, error: undefined });
  expect(await Promise.all(all)).toMatchObject([{ hits: 2 }, { hits: 2 }, { hits: 2 }]);
  expect(asked).toBe(1);
});

test("an open breaker is closed by a reset, which the log holds", async () => {
  const body = { model: "lost", messages: [{ role: "user", content: "hi" }] };
  expect((await app.ask("POST", "/v1/chat/completions", { as: app.app.key, body })).status).toBe(502);
  expect(await provider("gone")).toMatchObject({
    breaker: { state: "open", failures_max: 1 },
    last_error: { kind: "unavailable", over: false },
  });
  expect((await boss.post("/admin/providers/gone/reset")).json).toEqual({ success: true });
  expect((await provider("gone")).breaker).toMatchObject({ state: "closed", failures: 0 });
  expect((await boss.post("/admin/providers/demo/reset")).json.error.message).toContain("no breaker");
  const { data } = (await boss.get("/admin/audit?event=breaker_reset")).json;
  expect(data).toMatchObject([{ account: { username: "boss" }, event: "breaker_reset", detail: { provider: "gone" } }]);
});

test("a search engine is shown with why it is off, and a test asks it", async () => {
  const { data } = (await boss.get("/admin/engines")).json;
  const engine = (name: string) => data.find((one: { name: string }) => one.name === name);
  expect(engine("searxng")).toMatchObject({ off: null, suspended: null });
  expect(engine("wikipedia").off).toEqual(expect.any(String));
  const result = (await boss.post("/admin/engines/searxng/test")).json;
  expect(result).toMatchObject({ status: "failed", hits: 0, ms: expect.any(Number) });
  const { data: after } = (await boss.get("/admin/engines")).json;
  expect(after.find((one: { name: string }) => one.name === "searxng").last_error).not.toBeNull();
  expect((await boss.post("/admin/engines/nothing/test")).status).toBe(404);
});

test("storage shows sizes, who keeps what, and what is kept for how long", async () => {
  const form = new FormData();
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  form.append("file", new Blob([Buffer.from(png, "base64")], { type: "image/png" }), "dot.png");
  form.append("purpose", "vision");
  const made = await fetch(`${app.app.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.app.key}` },
    body: form,
  });
  expect(made.status).toBe(200);
  const { json } = await boss.get("/admin/storage");
  expect(json.database.bytes).toBeGreaterThan(4096);
  expect(json.data_dir).toBe(app.app.dataDir);
  expect(json.others.map(({ name }: { name: string }) => name)).toContain("secrets.json");
  expect(json.accounts).toMatchObject([{ username: expect.any(String), bytes: expect.any(Number) }]);
  expect(json.limit_bytes).toBe(500 * 1024 ** 2);
  expect(json.retention).toContainEqual({ what: "Threads", kept_ms: 30 * 86_400_000, key: "compaction.retention" });
  expect(json.sweep).toBeNull();
});

test("the audit log is everybody's, by account and by kind, a page at a time", async () => {
  const read = async (query: string) => (await boss.get(`/admin/audit?${query}`)).json.data;
  await signedIn("member");
  const names = (rows: readonly { account: { username: string } }[]) =>
    new Set(rows.map(({ account }) => account.username));
  expect(names(await read(""))).toEqual(new Set(["boss", "member"]));
  for (const who of ["member", "MEMBER@example.com"])
    expect(names(await read(`account=${who}`))).toEqual(new Set(["member"]));
  expect(await read("account=nobody")).toEqual([]);
  const logins = await read("event=login");
  expect(logins.every(({ event }: { event: string }) => event === "login")).toBe(true);
  expect((await read(`event=login&before=${logins.at(-1).id}`)).length).toBe(0);
  expect((await boss.get("/admin/audit?before=x")).json.error.param).toBe("before");
});

test("the configuration is shown with its sources and without its secrets", async () => {
  const { json, text } = await boss.get("/admin/config");
  const row = (key: string) => json.values.find((one: { key: string }) => one.key === key);
  expect(row("providers.good.kind")).toMatchObject({ value: "openai", source: { kind: "file" } });
  expect(row("providers.good.api_key")).toMatchObject({ value: null, source: { kind: "file" } });
  expect(row("server.max_body")).toMatchObject({ value: "20MiB", source: { kind: "default" } });
  for (const key of [GOOD_KEY, "sk-bad-key"]) expect(text).not.toContain(key);
});
