// Paths of other services: each behaves over HTTP like the path of which it is an alias.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  tier: "premium",
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-up", discover: false } },
    models: [
      { id: "small", routes: [{ provider: "up", model: "up-small" }] },
      { id: "own/éa b", routes: [{ provider: "up", model: "up-odd" }] },
      { id: "vectors", kind: "embedding", routes: [{ provider: "up", model: "up-vectors" }] },
    ],
  },
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const messages = [{ role: "user", content: "hi" }];
const CHAT = { model: "small", messages };
const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "up-small",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

describe("chat", () => {
  beforeEach(() => upstream.answer(() => Response.json(COMPLETION)));

  test.each([
    "/chat/completions",
    "/openai/v1/chat/completions",
    "/api/v1/chat/completions?source=x",
    "/anthropic/v1/messages",
    "/messages",
    "/v1/chat/completions",
  ])("%s", async (path) => {
    const response = await app.post(path, { ...CHAT, max_tokens: 10 });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(((await response.json()) as { model: string }).model).toBe("small");
    expect(upstream.received[0]?.json).toMatchObject({ model: "up-small" });
  });

  test("Azure's path names the model, with Azure's key header", async () => {
    const path = `/openai/deployments/${encodeURIComponent("own/éa b")}/chat/completions?api-version=2026-10-01`;
    const ask = (headers: Record<string, string>, body: object) =>
      fetch(app.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    for (const body of [{ messages }, { model: "another", messages }]) {
      const response = await ask({ "api-key": app.key }, body);
      expect(response.status).toBe(200);
      expect(((await response.json()) as { model: string }).model).toBe("own/éa b");
    }
    expect(upstream.received.map(({ json }) => (json as { model: string }).model)).toEqual(["up-odd", "up-odd"]);
    expect((await ask({ "api-key": "sk-wrong" }, { messages })).status).toBe(401);
    expect((await ask({}, { messages })).status).toBe(401);
    // On other paths the header is not a credential.
    const plain = await fetch(`${app.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "api-key": app.key },
      body: JSON.stringify(CHAT),
    });
    expect(plain.status).toBe(401);
  });

  test("a stream under an alias, and its usage row under the path itself", async () => {
    upstream.answer(
      () =>
        new Response(
          `data: ${JSON.stringify({ ...COMPLETION, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "hello" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
          { headers: { "content-type": "text/event-stream" } },
        ),
    );
    const response = await app.post("/openai/v1/chat/completions", { ...CHAT, stream: true });
    expect(await response.text()).toContain("hello");
    await app.flushLogs();
    const line = app.logs.find(
      (entry) => entry["asked"] === "/openai/v1/chat/completions" && entry["stream"] !== false,
    );
    expect(line).toMatchObject({ path: "/v1/chat/completions", status: 200 });
  });
});

test.each([
  ["/embeddings", "/v1/embeddings"],
  ["/openai/deployments/vectors/embeddings", "/v1/embeddings"],
])("%s stands for %s", async (path) => {
  upstream.answer(() => Response.json({ object: "list", data: [], model: "up-vectors", usage: { prompt_tokens: 1 } }));
  const response = await app.post(
    path,
    path.includes("deployments") ? { input: "a" } : { model: "vectors", input: "a" },
  );
  expect(response.status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject({ model: "up-vectors", input: "a" });
});

test.each([
  ["/models", "/v1/models"],
  ["/models/own%2F%C3%A9a%20b", "/v1/models/own%2F%C3%A9a%20b"],
  ["/openai/v1/models?client_version=1", "/v1/models"],
  ["/api/v1/models/small", "/v1/models/small"],
  ["/model/info", "/v1/model/info"],
  ["/health/readiness", "/readyz"],
  ["/health/liveliness", "/livez"],
  ["/health/liveness", "/livez"],
])("%s answers as %s", async (alias, path) => {
  const [one, other] = await Promise.all([app.call(alias), app.call(path)]);
  expect(one.status).toBe(200);
  expect(await one.text()).toBe(await other.text());
});

test.each([
  "/openai/deployments/small/nothing",
  "/openai/chat/completions",
  "/api/v1",
  "/anthropic/v2/messages",
  "/modelsx",
  "/openai/v1/v1/chat/completions",
])("%s is no alias", async (path) => {
  expect((await app.post(path, CHAT)).status).toBe(404);
});

describe("a slash at the end", () => {
  const headers = { "content-type": "application/json", authorization: "Bearer sk-no" };
  /** What an answer says of its path; without a good key most of it is known before any work. */
  const told = async (method: string, path: string) => {
    const body = method === "POST" || method === "PATCH" ? "{}" : null;
    const response = await fetch(app.url + path, { method, headers, body, redirect: "manual" });
    const { error } = ((await response.json().catch(() => ({}))) ?? {}) as { error?: { code?: string } };
    return [response.status, error?.code, response.headers.get("allow"), response.headers.has("request-id")];
  };

  test("changes no endpoint, and no method that one lacks", async () => {
    const { paths } = (await (await app.call("/openapi.json")).json()) as { paths: Record<string, object> };
    const asked = Object.entries(paths).flatMap(([path, methods]) =>
      ["put", ...Object.keys(methods)].map(
        (method) => [method.toUpperCase(), path.replace(/\{[^}]+\}/g, "x")] as const,
      ),
    );
    expect(asked.length).toBeGreaterThan(100);
    for (const [method, path] of asked) {
      // A provider's own path is passed on as it is.
      if (path.startsWith("/v1/upstream/")) continue;
      expect([method, path, ...(await told(method, `${path}/`))]).toEqual([
        method,
        path,
        ...(await told(method, path)),
      ]);
    }
  });

  test("is one: more of them open nothing", async () => {
    for (const path of ["/v1/models//", "/metrics//", "/openai/v1/models//", "/mcp//"])
      expect([path, (await app.call(path)).status]).toEqual([path, 404]);
  });

  test("changes no alias", async () => {
    upstream.answer(() => Response.json(COMPLETION));
    for (const path of [
      "/chat/completions",
      "/openai/deployments/small/chat/completions",
      "/v1beta/models/small:generateContent",
      "/v1beta/models/small%3AgenerateContent",
      "/v1/models/small%3agenerateContent",
    ]) {
      const body = path.includes("generateContent") ? { contents: [{ parts: [{ text: "hi" }] }] } : CHAT;
      for (const end of ["", "/", "/?a=b"])
        expect([path + end, (await app.post(path + end, body)).status]).toEqual([path + end, 200]);
    }
    for (const path of ["/key/info", "/health/readiness", "/models", "/api/v1/credits"])
      expect([path, (await app.call(`${path}/`)).status]).toEqual([path, 200]);
  });
});

test("a preflight for an alias is answered", async () => {
  const response = await fetch(`${app.url}/openai/v1/chat/completions`, { method: "OPTIONS" });
  expect(response.status).toBe(204);
});

test("a broken escape in an alias is refused", async () => {
  expect((await app.post("/openai/deployments/%ff/chat/completions", CHAT)).status).toBe(400);
});
