// POST /mcp as HTTP: which clients may call it, what the transport refuses, and in which form it answers.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { MODERN, messagesOf, modernRequest, olderRequest } from "./support.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({
    config: { web: { render: "never" }, server: { allowed_origins: ["https://app.example.com"] } },
  });
});
afterAll(() => app.stop());

const send = (init: RequestInit) => fetch(`${app.url}/mcp`, init);
const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

describe("keys", () => {
  test.each([
    ["none", {}, "missing_api_key"],
    ["a wrong one", { authorization: "Bearer sk-nonsense" }, "invalid_api_key"],
    ["a JWT", { authorization: "Bearer a.b.c" }, "invalid_api_key"],
    ["a wrong x-api-key", { "x-api-key": "sk-nonsense" }, "invalid_api_key"],
  ])("%s is 401, and names no authorization server", async (_name, headers, code) => {
    const init = olderRequest(app, LIST);
    const { authorization: _, ...rest } = init.headers;
    const response = await send({ ...init, headers: { ...rest, ...headers } });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  test("a key may be sent as x-api-key, for calls too", async () => {
    const init = modernRequest(app, "tools/call", { name: "crawl_status", arguments: { job_id: "crawl_00" } });
    const { authorization: _, ...headers } = init.headers;
    const response = await send({ ...init, headers: { ...headers, "x-api-key": app.key } });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("crawl_job_not_found");
  });

  test("the addresses for descriptions of authorization servers are 404", async () => {
    for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
      expect((await fetch(app.url + path)).status).toBe(404);
    }
  });
});

describe("origins and host names", () => {
  const listed = (headers: Record<string, string>) => send(modernRequest(app, "tools/list", {}, headers));

  test.each([
    ["another site's", { origin: "https://evil.example.com" }],
    ["an opaque one", { origin: "null" }],
    ["the same name on another port", { origin: "http://127.0.0.1:1" }],
    ["a listed one's subdomain", { origin: "https://x.app.example.com" }],
    ["nonsense", { origin: "nonsense" }],
  ])("origin: %s is 403", async (_name, headers) => {
    const response = await listed(headers);
    expect([response.status, ((await response.json()) as JsonRecord)["error"]]).toEqual([
      403,
      expect.objectContaining({ code: "origin_not_allowed" }),
    ]);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("the gateway's own origin and listed ones may call it and read the answer", async () => {
    for (const origin of [app.url, "https://app.example.com"]) {
      const response = await listed({ origin });
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
      expect(response.headers.get("vary")).toContain("Origin");
    }
  });

  test("an allowed origin gets CORS headers, also with a bad key", async () => {
    const origin = "https://app.example.com";
    const asked = { origin, "access-control-request-headers": "authorization,mcp-method" };
    const preflight = await send({ method: "OPTIONS", headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization,mcp-method");
    const refused = await listed({ origin, authorization: "Bearer sk-no" });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
    expect((await send({ method: "OPTIONS", headers: { origin: "https://evil.example.com" } })).status).toBe(403);
  });

  test.each([
    ["evil.example.com", 403],
    ["evil.example.com:8787", 403],
    ["192.168.0.7", 403],
    ["127.0.0.1.evil.example.com", 403],
    ["localhost", 200],
    ["localhost:9999", 200],
    ["127.0.0.1", 200],
    ["[::1]:80", 200],
  ])("on a loopback address the name %s is answered with %d", async (host, status) => {
    expect((await listed({ host })).status).toBe(status);
  });

  test("a page behind a foreign name is refused although it names itself", async () => {
    expect((await listed({ host: "evil.example.com", origin: "http://evil.example.com" })).status).toBe(403);
  });
});

describe("the transport", () => {
  test.each(["GET", "DELETE", "PUT"])("%s is 405", async (method) => {
    const response = await send({ method, headers: { authorization: `Bearer ${app.key}` } });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("no session is created or required", async () => {
    const response = await send(olderRequest(app, INITIALIZE));
    expect(response.headers.get("mcp-session-id")).toBeNull();
    const [answer] = await messagesOf(response);
    expect(answer).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } } });
    expect(JSON.stringify(answer)).not.toContain("listChanged");
    const headers = { "mcp-session-id": "no-such", "last-event-id": "3", "mcp-protocol-version": "2025-06-18" };
    const [list] = await messagesOf(await send(olderRequest(app, LIST, headers)));
    expect(list).toMatchObject({ id: 7, result: { tools: expect.any(Array) } });
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("revision %s is supported", async (version) => {
    const asked = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: version } };
    const [answer] = await messagesOf(await send(olderRequest(app, asked)));
    expect(answer).toMatchObject({ result: { protocolVersion: version } });
  });

  test("a notification is 202 without a body", async () => {
    const body = { jsonrpc: "2.0", method: "notifications/initialized" };
    const response = await send(olderRequest(app, body));
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  test("the list says how long it may be cached, and by whom", async () => {
    const [answer] = await messagesOf(await send(modernRequest(app, "tools/list")));
    expect(answer?.["result"]).toMatchObject({ resultType: "complete", ttlMs: 60_000, cacheScope: "private" });
  });

  test("discovery declares tools, without notifications of changes", async () => {
    const [answer] = await messagesOf(await send(modernRequest(app, "server/discover")));
    const { supportedVersions, capabilities } = (answer?.["result"] ?? {}) as JsonRecord;
    expect([supportedVersions, capabilities]).toEqual([expect.arrayContaining([MODERN]), { tools: {} }]);
  });

  const call = modernRequest({ url: "", key: "" }, "tools/call", { name: "map", arguments: {} });
  test.each([
    ["a header that names another method", { "mcp-method": "tools/list" }],
    ["a header that names another tool", { "mcp-name": "scrape" }],
    ["another version in the header", { "mcp-protocol-version": "2025-06-18" }],
  ])("%s is 400", async (_name, headers) => {
    const response = await send({
      ...call,
      headers: { ...call.headers, authorization: `Bearer ${app.key}`, ...headers },
    });
    expect([response.status, ((await response.json()) as { error: JsonRecord }).error["code"]]).toEqual([400, -32020]);
  });

  test("an unknown version is answered with the supported ones", async () => {
    const init = modernRequest(app, "tools/list", {}, { "mcp-protocol-version": "2031-01-01" });
    const response = await send({ ...init, body: init.body.replace(MODERN, "2031-01-01") });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({
          code: -32022,
          data: expect.objectContaining({ supported: expect.arrayContaining([MODERN]) }),
        }),
      }),
    ]);
  });

  test("an unknown method is 404, an unknown tool an error of the protocol", async () => {
    const response = await send(modernRequest(app, "no/such"));
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: -32601 } }]);
    const [answer] = await messagesOf(
      await send(modernRequest(app, "tools/call", { name: "__proto__", arguments: {} })),
    );
    expect(answer).toMatchObject({ error: { code: -32602 } });
  });

  test("a stream for notifications is refused, because there are none", async () => {
    const response = await send(
      modernRequest(app, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
    );
    const [answer] = await messagesOf(response);
    expect(answer).toHaveProperty("error");
  });
});

describe("bodies", () => {
  test.each([
    ["nothing", ""],
    ["no JSON", '{"jsonrpc":'],
  ])("%s is a parse error", async (_name, body) => {
    const response = await send({ ...olderRequest(app, LIST), body });
    expect([response.status, await response.json()]).toMatchObject([400, { id: null, error: { code: -32700 } }]);
  });

  test("more than 4 MiB is 413, another type 415", async () => {
    const large = await send({
      ...olderRequest(app, LIST),
      body: JSON.stringify({ ...LIST, x: "x".repeat(4_200_000) }),
    });
    expect(large.status).toBe(413);
    const text = olderRequest(app, LIST, { "content-type": "text/plain" });
    expect((await send(text)).status).toBe(415);
  });

  test("a batch is answered in one stream, message by message; a larger one is refused", async () => {
    const batch = Array.from({ length: 20 }, (_, id) => ({ ...LIST, id }));
    const headers = { "mcp-protocol-version": "2025-03-26" };
    const answers = await messagesOf(await send(olderRequest(app, batch, headers)));
    expect(answers.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual(batch.map(({ id }) => id));
    const response = await send(olderRequest(app, [...batch, LIST], headers));
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  const list = (count: number) => Array.from({ length: count }, () => 1);
  const object = (count: number) => Object.fromEntries(list(count).map((value, at) => [`m${at}`, value]));
  const called = (given: unknown, others = {}) => ({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "no_such_tool", arguments: given, ...others },
  });
  const initialize = (abilities: unknown) => ({
    ...INITIALIZE,
    params: { ...INITIALIZE.params, capabilities: { experimental: abilities } },
  });

  test.each([
    ["members", called(object(2000))],
    ["members of metadata", called({}, { _meta: object(2000) })],
    ["abilities", initialize({ a: object(2000) })],
    ["values deep in one ability", initialize({ a: { b: { c: [list(2000)] } } })],
    ["abilities of few values each", initialize({ a: Object.fromEntries(list(100).map((_, at) => [at, object(20)])) })],
    ["members in a batch", Array.from({ length: 20 }, () => called(object(100)))],
  ])("too many %s, which the SDK would check one by one, are refused", async (_name, body) => {
    const response = await send(olderRequest(app, body, { "mcp-protocol-version": "2025-03-26" }));
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  test("an argument may have any number of values", async () => {
    const given = { list: list(100_000), object: object(10_000), rows: list(3000).map(() => ({ a: [1] })) };
    const [answer] = await messagesOf(await send(olderRequest(app, called(given))));
    expect(answer).toMatchObject({ error: { message: "Unknown tool: no_such_tool" } });
  });
});
