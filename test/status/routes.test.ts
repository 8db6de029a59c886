import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { FakeClock } from "../../src/base/clock.ts";
import { ApiError } from "../../src/base/errors.ts";
import { endpointRoutes } from "../../src/http/served-endpoint.ts";
import { STATUS_ENDPOINTS, type StatusDeps } from "../../src/status/routes.ts";
import { pseudonym } from "../../src/status/stats.ts";
import type { BreakerSnapshot } from "../../src/upstream/breaker.ts";

const OPENED = Date.UTC(2026, 0, 2);
const closed: BreakerSnapshot = { state: "closed", failures: 1, openedAtMs: null };

function app(over: Partial<StatusDeps> = {}) {
  const deps: StatusDeps = {
    version: "1.2.3",
    uptimeSeconds: () => 42,
    breakers: () => new Map([["up", closed]]),
    subsystems: { database: () => ({ status: "ok" }), browser: async () => ({ status: "unavailable", pages: 0 }) },
    tokenTotals: async () => ({ requests: 3, inputTokens: 10, outputTokens: 5, sinceMs: OPENED, updatedAtMs: OPENED }),
    totalsByModel: async () => [
      { model: "fast", totalTokens: 12, requests: 2 },
      { model: "secret", totalTokens: 3, requests: 1 },
    ],
    topAccounts: async () => [
      { accountId: "account-1", totalTokens: 9 },
      { accountId: "account-2", totalTokens: 6 },
    ],
    isPublicModel: (id) => id === "fast",
    pseudonymSecret: "s".repeat(32),
    links: () => ({ documentation: "http://h/docs", dashboard: "http://h/dashboard" }),
    ready: async () => true,
    listedModels: () => 7,
    activeNodes: () => 3,
    modelHealth: { view: () => ({ models: [], refreshed_at: null }) },
    daysOf: () => [],
    clock: new FakeClock(OPENED),
    maintenance: () => ({ enabled: false, message: "" }),
    metrics: () => ({ enabled: true, token: "" }),
    renderMetrics: () => "up 1\n",
    ...over,
  };
  return new Elysia()
    .onError(({ error }) =>
      error instanceof ApiError ? Response.json({ error: error.body() }, { status: error.status }) : undefined,
    )
    .use(endpointRoutes(STATUS_ENDPOINTS, deps)());
}

async function get(path: string, over: Partial<StatusDeps> = {}, headers: Record<string, string> = {}) {
  const response = await app(over).handle(new Request(`http://localhost${path}`, { headers }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const ok = (body: unknown) => ({ status: 200, body });

test("the plain ones, every field", async () => {
  expect(await get("/")).toEqual(
    ok({
      service: "sallyport",
      version: "1.2.3",
      api_version: "v1",
      documentation: "http://h/docs",
      dashboard: "http://h/dashboard",
    }) as never,
  );
  expect(await get("/livez")).toEqual(ok({ status: "ok" }) as never);
  expect(await get("/v1/status/runtime")).toEqual(
    ok({ active_nodes: 3, active_models: 7, uptime_seconds: 42 }) as never,
  );
  expect(await get("/v1/status/models")).toEqual(ok({ models: [], refreshed_at: null }) as never);
});

test("capabilities: every flag of the specification, and only moderations is false", async () => {
  const { body } = await get("/v1/capabilities");
  const flags = body["compatibility"] as Record<string, boolean>;
  expect([body["service"], body["api_version"]]).toEqual(["sallyport", "v1"]);
  expect(Object.keys(flags).filter((flag) => !flags[flag])).toEqual(["moderations"]);
  expect(Object.keys(flags).sort()).toEqual(
    [
      "chat_completions",
      "responses_compat",
      "responses_native_events",
      "legacy_completions",
      "moderations",
      "streaming_sse",
      "stream_include_usage",
      "max_completion_tokens",
      "request_id_header",
      "mcp",
    ].sort(),
  );
});

describe("health", () => {
  test("ok: breakers and subsystems, a missing browser is forgiven", async () => {
    expect(await get("/health")).toEqual(
      ok({
        status: "ok",
        version: "1.2.3",
        uptime_seconds: 42,
        breakers: { up: { state: "closed", failures: 1, opened_at: null } },
        subsystems: { database: { status: "ok" }, browser: { status: "unavailable", pages: 0 } },
      }) as never,
    );
  });

  const open: BreakerSnapshot = { state: "open", failures: 5, openedAtMs: OPENED };
  test.each<[string, Partial<StatusDeps>, number]>([
    ["an open breaker", { breakers: () => new Map([["up", open]]) }, 503],
    ["a half-open one", { breakers: () => new Map([["up", { ...open, state: "half_open" as const }]]) }, 200],
    ["no provider", { breakers: () => new Map() }, 200],
    ["the database is gone", { subsystems: { database: () => Promise.reject(new Error("/secret/path")) } }, 503],
    ["another subsystem throws", { subsystems: { jobs: () => Promise.reject(new Error("/secret/path")) } }, 200],
  ])("%s", async (_name, over, status) => {
    const { status: got, body } = await get("/health", over);
    expect(got).toBe(status);
    expect(body["status"]).toBe(status === 200 ? "ok" : "degraded");
    expect(JSON.stringify(body)).not.toContain("/secret/path");
  });

  test("opened_at is a time", async () => {
    const { body } = await get("/health", { breakers: () => new Map([["up", open]]) });
    expect(body["breakers"]).toEqual({ up: { state: "open", failures: 5, opened_at: "2026-01-02T00:00:00.000Z" } });
  });
});

test.each<[string, () => Promise<boolean>, number]>([
  ["ready", async () => true, 200],
  ["not ready", async () => false, 503],
  ["a check that throws", () => Promise.reject(new Error("x")), 503],
])("readyz: %s", async (_name, ready, status) => expect((await get("/readyz", { ready })).status).toBe(status));

test("token totals", async () => {
  const at = "2026-01-02T00:00:00.000Z";
  expect((await get("/v1/stats/tokens")).body).toEqual({
    total_tokens: 15,
    input_tokens: 10,
    output_tokens: 5,
    requests: 3,
    since: at,
    updated_at: at,
  });
  const none = { requests: 0, inputTokens: 0, outputTokens: 0, sinceMs: null, updatedAtMs: null };
  expect((await get("/v1/stats/tokens", { tokenTotals: async () => none })).body).toMatchObject({
    total_tokens: 0,
    since: null,
    updated_at: null,
  });
});

test("the leaderboard names no hidden model and no account", async () => {
  const { body } = await get("/v1/stats/tokens/leaderboard");
  const secret = "s".repeat(32);
  expect(body).toEqual({
    models: [{ model_id: "fast", total_tokens: 12, requests: 2 }],
    users: [
      { rank: 1, user: pseudonym("account-1", secret), total_tokens: 9 },
      { rank: 2, user: pseudonym("account-2", secret), total_tokens: 6 },
    ],
    total_tokens: 15,
    updated_at: "2026-01-02T00:00:00.000Z",
  });
  expect(JSON.stringify(body)).not.toMatch(/account-|secret/);
});

test("a pseudonym is stable, of one form, and another under another secret", () => {
  const names = Array.from({ length: 500 }, (_, at) => pseudonym(`id${at}`, "one"));
  expect(new Set(names).size).toBe(500);
  expect(names.every((name) => /^user-[a-z2-7]{10}$/.test(name))).toBe(true);
  expect(pseudonym("id1", "one")).toBe(names[1]!);
  expect(pseudonym("id1", "two")).not.toBe(names[1]!);
});

describe("metrics", () => {
  const metrics = (settings: { enabled: boolean; token: string }, authorization?: string) =>
    app({ metrics: () => settings }).handle(
      new Request("http://localhost/metrics", { headers: authorization === undefined ? {} : { authorization } }),
    );

  test.each([
    ["open", { enabled: true, token: "" }, undefined, 200],
    ["off", { enabled: false, token: "" }, undefined, 404],
    ["off, with its token", { enabled: false, token: "t" }, "Bearer t", 404],
    ["no token", { enabled: true, token: "t" }, undefined, 401],
    ["a wrong token", { enabled: true, token: "t" }, "Bearer tt", 401],
    ["the token without its scheme", { enabled: true, token: "t" }, "t", 401],
    ["the token", { enabled: true, token: "t" }, "Bearer t", 200],
    ["the scheme in small letters", { enabled: true, token: "t" }, "bearer t", 200],
  ])("%s", async (_name, settings, authorization, status) => {
    expect((await metrics(settings, authorization)).status).toBe(status);
  });

  test("are Prometheus text", async () => {
    const response = await metrics({ enabled: true, token: "" });
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toBe("up 1\n");
  });
});
