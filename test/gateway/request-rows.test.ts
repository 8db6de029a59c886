// Every counted request has a usage row for its owner, however it ended; requests without a valid key have none.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { usageStore } from "../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { chatChunk, type FakeUpstream, HANG, sse, startUpstream } from "../support/upstream.ts";

let good: FakeUpstream;
let bad: FakeUpstream;
let site: FakeSite;
let app: TestApp;

beforeAll(async () => {
  good = startUpstream(({ json }) =>
    json?.["stream"] === true
      ? sse([chatChunk({ role: "assistant" }), chatChunk({ content: "hi" }), HANG])
      : Response.json({
          id: "c",
          choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
        }),
  );
  bad = startUpstream(() => new Response("{}", { status: 503 }));
  site = startFakeSite({ "/": "<title>t</title><main><p>Enough text for a page to be read.</p></main>" });
  const provider = (up: FakeUpstream) => ({
    kind: "openai",
    base_url: up.baseUrl,
    discover: false,
    retry: { attempts: 1, base: "1ms", max: "1ms" },
    breaker: { failures: 1000 },
  });
  app = await startTestApp({
    key: { rpm: 12 },
    config: {
      usage: { flush: "1ms" },
      web: { allow_hosts: [site.host], render: "never" },
      providers: { good: provider(good), bad: provider(bad) },
      models: [
        { id: "well", routes: [{ provider: "good", model: "g" }] },
        { id: "down", routes: [{ provider: "bad", model: "b" }] },
        {
          id: "second",
          routes: [
            { provider: "bad", model: "b", priority: 1 },
            { provider: "good", model: "g", priority: 2 },
          ],
        },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([good.stop(), bad.stop(), site.stop()]);
});

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "hello" }],
  ...more,
});
const failed = {
  provider: "bad",
  model: "b",
  kind: "unavailable",
  status: 503,
  ms: expect.any(Number),
  at: expect.any(Number),
};
const answered = { ...failed, provider: "good", model: "g", kind: "ok", status: 200 };

test("one row each, with the route that failed and why", async () => {
  await app.post("/v1/chat/completions", chat("well"), { "x-request-id": "same" });
  await app.post("/v1/chat/completions", chat("down"), { "x-request-id": "same" });
  await app.post("/v1/chat/completions", chat("second"));
  await app.post("/v1/chat/completions", chat("nowhere"));
  await app.post("/v1/chat/completions", chat("well", { temperature: 9 }));
  await app.post("/v1/messages", { ...chat("down"), max_tokens: 5 });
  await app.post("/v1/scrape", { url: `http://${site.host}/` });
  await app.post("/v1/scrape", { url: "http://127.0.0.1:1/" });
  await app.post("/v1/systemone", { model: "none", state: "s", questions: {} });
  const leaving = new AbortController();
  const stream = await app.call("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(chat("well", { stream: true })),
    signal: leaving.signal,
  });
  await stream.body!.getReader().read();
  const upstream = good.received.at(-1)!;
  leaving.abort();
  await upstream.aborted;
  // Two more requests use up the limit per minute. The next one is refused.
  for (let i = 0; i < 3; i++) await app.post("/v1/chat/completions", chat("well"));
  // Not counted: a request without a key, a free endpoint, and a list.
  await fetch(`${app.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(chat("well")) });
  await app.post("/v1/messages/count_tokens", chat("down"));
  await app.call("/v1/models");
  // The restart makes the program write all waiting rows.
  await app.restart();

  const store = await app.openStore();
  const rows = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1000 })).rows.toReversed();
  await store.close();
  const seen = rows.map(({ model, endpoint, status, errorCode, provider, attempts }) => ({
    model,
    endpoint,
    status,
    errorCode,
    provider,
    attempts: attempts === null ? [] : JSON.parse(attempts),
  }));
  const completions = { endpoint: "/v1/chat/completions", status: 200, errorCode: null, provider: "", attempts: [] };
  const served = { ...completions, model: "well", provider: "good" };
  const down = { model: "down", status: 502, errorCode: "provider_unavailable", provider: "bad", attempts: [failed] };
  expect(seen).toEqual([
    served,
    { ...completions, ...down },
    { ...served, model: "second", attempts: [failed, answered] },
    { ...completions, model: "", status: 404, errorCode: "model_not_found" },
    { ...completions, model: "", status: 400, errorCode: "invalid_request" },
    { ...completions, ...down, endpoint: "/v1/messages" },
    { ...completions, model: "", endpoint: "/v1/scrape" },
    { ...completions, model: "", endpoint: "/v1/scrape", status: 400, errorCode: "url_not_allowed" },
    { ...completions, model: "", endpoint: "/v1/systemone", status: 422, errorCode: "invalid_question" },
    { ...served, errorCode: "client_gone" },
    served,
    served,
    { ...completions, model: "", status: 429, errorCode: "rate_limit_exceeded" },
  ]);
});
