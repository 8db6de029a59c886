// Any path of a provider: which keys may use it, where it leads, and what is passed on in both directions.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { openStore } from "../../../../src/store/engine/open.ts";
import { usageStore } from "../../../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { REPORTS } from "./reports.ts";

const SECRET = "sk-provider-secret-0123456789";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

let seen: Seen[] = [];
let reply: (request: Request) => Response | Promise<Response>;
let server: ReturnType<typeof Bun.serve>;
let elsewhere: ReturnType<typeof Bun.serve>;
let strayed = 0;
let app: TestApp;
let key: string;

beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    development: false,
    async fetch(request) {
      const { method, url, headers } = request;
      const answer = await reply(request.clone());
      const body = request.headers.get("x-skip") === null ? await request.text() : "";
      seen.push({ method, url: url.slice(url.indexOf("/", 8)), headers: headers.toJSON(), body });
      return answer;
    },
  });
  elsewhere = Bun.serve({
    port: 0,
    fetch: () => {
      strayed += 1;
      return new Response("elsewhere");
    },
  });
  app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      server: { max_upload: "64KiB" },
      providers: {
        up: { kind: "openai", base_url: `http://127.0.0.1:${server.port}/base/v1`, api_key: SECRET, discover: false },
        claude: { kind: "anthropic", base_url: `http://127.0.0.1:${server.port}/v1`, api_key: SECRET, discover: false },
        gone: { kind: "openai", base_url: "http://127.0.0.1:1/v1", api_key: SECRET, discover: false },
        demo: { kind: "demo" },
      },
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
  const store = openStore({ dataDir: app.dataDir });
  key = (await keyStore(store).createKey({ accountId: app.accountId, name: "all", passthrough: true })).key;
  store.close();
});
afterAll(async () => {
  await app.stop();
  await server.stop(true);
  await elsewhere.stop(true);
});
beforeEach(() => {
  seen = [];
  strayed = 0;
  reply = () => Response.json({ ok: true });
});

const send = (path: string, init: RequestInit = {}) =>
  fetch(app.url + path, {
    redirect: "manual",
    ...init,
    headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string> | undefined) },
  });
/** The answer to a method that fetch() does not send. */
function sendRaw(method: string, path: string): Promise<string> {
  const { port } = new URL(app.url);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), "127.0.0.1", () => {
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
  });
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
    if (text.includes("\r\n\r\n")) socket.destroy();
  });
  socket.on("close", () => resolve(text));
  socket.on("error", () => resolve(text));
  return promise;
}
const codeOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code;

describe("which keys may use it", () => {
  test("a key without the permission is refused, and no provider is called", async () => {
    const answer = await app.call("/v1/upstream/up/files");
    expect([answer.status, await codeOf(answer), seen.length]).toEqual([403, "permission_denied", 0]);
  });

  test.each(["nobody", "demo", "", "constructor", "%E0%A4%A"])("no provider is called %p", async (name) => {
    const answer = await send(`/v1/upstream/${name}/files`);
    expect([name, answer.status >= 400, seen.length]).toEqual([name, true, 0]);
    if (name !== "" && !name.includes("%")) expect(await codeOf(answer)).toBe("provider_not_found");
  });
});

describe("the request to the provider", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "DELETE"])("%s with query and body, and our credential", async (method) => {
    const body = method === "GET" ? undefined : '{"a": 1,  "b": "ü"}';
    const answer = await send("/v1/upstream/up/files/f%2Fx?limit=2&after=a%20b", {
      method,
      ...(body === undefined ? {} : { body }),
      headers: {
        "content-type": "application/json",
        "openai-beta": "assistants=v2",
        "x-api-key": "mine",
        cookie: "a=b",
      },
    });
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
    expect(seen).toEqual([
      { method, url: "/base/v1/files/f%2Fx?limit=2&after=a%20b", headers: expect.anything(), body: body ?? "" },
    ]);
    const headers = seen[0]!.headers;
    expect(headers["authorization"]).toBe(`Bearer ${SECRET}`);
    expect(headers["openai-beta"]).toBe("assistants=v2");
    expect([headers["x-api-key"], headers["cookie"]]).toEqual([undefined, undefined]);
    expect(JSON.stringify(seen)).not.toContain(key);
  });

  test.each(["", "/openai", "/anthropic", "/api"])("a slash at the end of a path below %p stays", async (before) => {
    for (const end of ["", "/", "//"]) await send(`${before}/v1/upstream/up/files${end}`);
    expect(seen.map(({ url }) => url)).toEqual(["", "/", "//"].map((end) => `/base/v1/files${end}`));
  });

  test("the caller's key in the query is not passed on", async () => {
    await send(`/v1/upstream/up/files?a=1&key=${key}&b=2`);
    expect(seen[0]!.url).toBe("/base/v1/files?a=1&b=2");
  });

  test("the credential in the form that each provider requires", async () => {
    await send("/v1/upstream/claude/models", { headers: { "anthropic-version": "2023-06-01" } });
    expect(seen[0]!.headers).toMatchObject({ "x-api-key": SECRET });
    expect(seen[0]!.headers["authorization"]).toBeUndefined();
  });

  test("a body without a length is passed on as it arrives", async () => {
    let send2: (() => void) | undefined;
    const arrived = Promise.withResolvers<string>();
    reply = async (request) => {
      const reader = request.body!.getReader();
      arrived.resolve(new TextDecoder().decode((await reader.read()).value));
      for (;;) if ((await reader.read()).done) break;
      return new Response("done");
    };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("first"));
        send2 = () => {
          controller.enqueue(new TextEncoder().encode("second"));
          controller.close();
        };
      },
    });
    const answer = send("/v1/upstream/up/uploads", { method: "POST", body, headers: { "x-skip": "1" } });
    expect(await arrived.promise).toBe("first");
    send2?.();
    expect(await (await answer).text()).toBe("done");
  });

  test.each([
    ["declared", "x".repeat(64 * 1024 + 1)],
    ["not declared", new Blob(["x".repeat(80 * 1024)]).stream()],
  ])("a body above server.max_upload is refused: %s", async (_how, body) => {
    const answer = await send("/v1/upstream/up/uploads", { method: "POST", body });
    expect([answer.status, await codeOf(answer)]).toEqual([413, "request_too_large"]);
  });
});

describe("no path leads outside of the base URL", () => {
  const port = () => elsewhere.port;
  test.each([
    ["dots", () => "/v1/upstream/up/../../admin"],
    ["encoded dots", () => "/v1/upstream/up/%2e%2e/%2e%2e/admin"],
    ["dots with an encoded slash", () => "/v1/upstream/up/..%2f..%2fadmin"],
    ["dots encoded twice", () => "/v1/upstream/up/%252e%252e/admin"],
    ["a backslash", () => "/v1/upstream/up/..%5cadmin"],
    ["a dot at the end", () => "/v1/upstream/up/files/%2e%2e"],
    ["dots with a parameter", () => "/v1/upstream/up/..;/admin"],
    ["another host", () => `/v1/upstream/up//127.0.0.1:${port()}/x`],
    ["another host behind a user", () => `/v1/upstream/up@127.0.0.1:${port()}/x`],
    ["another port", () => `/v1/upstream/up:${port()}/x`],
    ["a whole address", () => `/v1/upstream/http%3A%2F%2F127.0.0.1%3A${port()}/x`],
    ["a line end", () => "/v1/upstream/up/a%0d%0aHost:%20x"],
  ])("%s", async (_how, path) => {
    // This uses a socket, because fetch normalises paths before it sends them.
    const { hostname, port: own } = new URL(app.url);
    const got = Promise.withResolvers<string>();
    let text = "";
    const socket = await Bun.connect({
      hostname,
      port: Number(own),
      socket: {
        data(_socket, data) {
          text += data.toString();
        },
        close: () => got.resolve(text),
        error: (_socket, error) => got.reject(error),
      },
    });
    socket.write(
      `GET ${path()} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    const answer = await got.promise;
    expect(strayed).toBe(0);
    for (const { url } of seen) expect(url).toStartWith("/base/v1/");
    expect(answer).toMatch(/^HTTP\/1\.1 (?:200|4\d\d) /);
  });

  test("a redirect is returned, with the gateway's path if it leads below the base URL", async () => {
    reply = () => new Response(null, { status: 302, headers: { location: "/base/v1/files/2?x=1" } });
    const below = await send("/v1/upstream/up/files/1");
    expect([below.status, below.headers.get("location")]).toEqual([302, "/v1/upstream/up/files/2?x=1"]);
    reply = () =>
      new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${elsewhere.port}/signed` } });
    const away = await send("/v1/upstream/up/files/1");
    expect(away.headers.get("location")).toBe(`http://127.0.0.1:${elsewhere.port}/signed`);
    expect(strayed).toBe(0);
  });
});

describe("the answer to the client", () => {
  test("status, type and body of any answer are passed on", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(100_000));
    reply = () => new Response(bytes, { status: 206, headers: { "content-type": "audio/mpeg", "x-more": "yes" } });
    const answer = await send("/v1/upstream/up/speech");
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("x-more")]).toEqual([
      206,
      "audio/mpeg",
      "yes",
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
  });

  test.each([204, 304])("a status without a body: %i", async (status) => {
    reply = () => new Response(null, { status });
    expect((await send("/v1/upstream/up/files/1", { method: "DELETE" })).status).toBe(status);
  });

  test("headers that choose an account, an address, a path or a method are not sent up", async () => {
    const names = [
      ...["openai-organization", "openai-project", "x-goog-user-project", "x-amz-security-token", "true-client-ip"],
      ...["x-original-url", "x-rewrite-url", "x-http-method-override", "x-forwarded-for", "cf-connecting-ip"],
    ];
    const headers = Object.fromEntries(names.map((name) => [name, "mine"]));
    await send("/v1/upstream/up/models", { headers: { ...headers, "openai-beta": "yes" } });
    expect(names.filter((name) => seen[0]!.headers[name] !== undefined)).toEqual([]);
    expect(seen[0]!.headers["openai-beta"]).toBe("yes");
  });

  test.each(["PROPFIND", "TRACE", "MKCOL"])("%s is no method of an API", async (method) => {
    const answer = await sendRaw(method, "/v1/upstream/up/models");
    expect(answer).toMatch(/^HTTP\/1\.1 (?:405|400|501)/);
    expect(seen).toEqual([]);
  });

  test("no browser takes an answer for a page of this origin", async () => {
    const policies = {
      ...{ refresh: "0;url=https://evil.example", "x-frame-options": "ALLOWALL", "clear-site-data": "*" },
      ...{ "content-security-policy": "default-src *", "service-worker-allowed": "/", "set-cookie": "a=b" },
      ...{ "cross-origin-opener-policy": "unsafe-none", "x-more": "yes" },
    };
    for (const [type, status] of [
      ["text/html; charset=utf-8", 200],
      ["text/html", 404],
      ["image/svg+xml", 200],
      ["application/json", 200],
    ] as const) {
      reply = () =>
        new Response("<script>alert(1)</script>", { status, headers: { ...policies, "content-type": type } });
      const { headers } = await send("/v1/upstream/up/page");
      expect([type, headers.get("content-security-policy")]).toEqual([type, "sandbox; default-src 'none'"]);
      expect([headers.get("x-content-type-options"), headers.get("x-more")]).toEqual(["nosniff", "yes"]);
      expect(headers.get("content-disposition")).toBe(type.startsWith("application/json") ? null : "attachment");
      for (const name of ["refresh", "x-frame-options", "clear-site-data", "service-worker-allowed", "set-cookie"])
        expect([name, headers.get(name)]).toEqual([name, null]);
    }
  });

  test("the provider's key is masked, even if it is split between pieces, and in headers and errors", async () => {
    reply = () => {
      const encoder = new TextEncoder();
      const pieces = [`{"k":"${SECRET.slice(0, 9)}`, SECRET.slice(9), `","end":"${SECRET.slice(0, 5)}"}`];
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) return controller.close();
          controller.enqueue(encoder.encode(piece));
          await Bun.sleep(1);
        },
      });
      return new Response(stream, {
        headers: { "content-type": "application/json", "x-echo": `is ${SECRET}`, "openai-organization": "org-1" },
      });
    };
    const answer = await send("/v1/upstream/up/echo");
    expect(await answer.json()).toEqual({ k: "*".repeat(SECRET.length), end: SECRET.slice(0, 5) });
    expect(answer.headers.get("x-echo")).not.toContain(SECRET);
    expect(answer.headers.get("openai-organization")).toBeNull();
    const message = `Incorrect API key provided: ${SECRET} at http://127.0.0.1:${server.port}/base/v1`;
    reply = () => Response.json({ error: { message } }, { status: 401 });
    const refused = await send("/v1/upstream/up/echo");
    expect(await refused.json()).toEqual({
      error: { message: "Incorrect API key provided: [redacted] at [redacted]/base/v1" },
    });
    expect(refused.status).toBe(401);
  });

  test("a stream arrives piece by piece", async () => {
    let more: (() => void) | undefined;
    reply = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
            more = () => {
              controller.enqueue(new TextEncoder().encode("data: 2\n\n"));
              controller.close();
            };
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    const reader = (await send("/v1/upstream/up/stream")).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 1\n\n");
    more?.();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 2\n\n");
  });

  test("a client that leaves ends the call", async () => {
    const ended = Promise.withResolvers<void>();
    reply = (request) => {
      request.signal.addEventListener("abort", () => ended.resolve());
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
          },
          cancel: () => ended.resolve(),
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    };
    const leaving = new AbortController();
    const answer = await send("/v1/upstream/up/stream", { signal: leaving.signal });
    await answer.body!.getReader().read();
    leaving.abort();
    await ended.promise;
  });

  test("a provider that cannot be reached", async () => {
    const answer = await send("/v1/upstream/gone/files");
    expect([answer.status, await codeOf(answer)]).toEqual([502, "provider_unavailable"]);
  });
});

test("usage in answers is recorded, and invalid usage is not", async () => {
  for (const [what, type, body] of REPORTS) {
    reply = () => new Response(body, { headers: { "content-type": type } });
    const answer = await send("/v1/upstream/up/any", { headers: { "x-request-id": what.replaceAll(" ", "-") } });
    expect(await answer.text()).toBe(body);
  }
  reply = () => Response.json({ error: {} }, { status: 500 });
  await (await send("/v1/upstream/up/any", { headers: { "x-request-id": "failed" } })).text();
  // The restart makes the program write all waiting rows.
  await app.restart();
  const store = openStore({ dataDir: app.dataDir });
  const rows = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1000 })).rows;
  store.close();
  const of = (what: string) => rows.find(({ requestId }) => requestId === what.replaceAll(" ", "-"));
  for (const [what, , , [inputTokens, outputTokens]] of REPORTS) {
    expect(of(what)).toMatchObject({
      endpoint: "/v1/upstream/*",
      provider: "up",
      status: 200,
      inputTokens,
      outputTokens,
    });
  }
  expect(of("failed")).toMatchObject({ status: 500, errorCode: "provider_unavailable" });
});
