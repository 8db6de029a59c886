// A client that leaves while a webhook judges its request or the answer ends what the webhook was asked.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { chatAnswer, chatChunk, sse, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
let asked = Promise.withResolvers<Request>();
const hook = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch(request) {
    asked.resolve(request);
    return new Promise(() => undefined);
  },
});
const check = { kind: "webhook", url: `http://127.0.0.1:${hook.port}/` };
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [
      ...["input", "output"].map((id) => ({ id, routes: [{ provider: "up", model: "m" }] })),
      { id: "embed", kind: "embedding", routes: [{ provider: "up", model: "m" }] },
    ],
    alerts: { webhook_secret: "whsec-planted" },
    web: { allow_caller_data: [`127.0.0.1:${hook.port}`] },
    guardrails: [
      { name: "asked", on: ["input"], check, timeout: "1h", apply: { models: ["input", "embed"] } },
      { name: "said", on: ["output"], check, timeout: "1h", apply: { models: ["output"] } },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await hook.stop(true);
});

const chat = (model: string, stream: boolean) =>
  ["/v1/chat/completions", { model, stream, messages: [{ role: "user", content: "Hi" }] }] as const;
const ROWS = [
  ...["input", "output"].flatMap((model) =>
    [false, true].map((stream) => [`${model}, stream ${stream}`, ...chat(model, stream)] as const),
  ),
  ["embedded", "/v1/embeddings", { model: "embed", input: "Hi" }] as const,
];

test.each(ROWS)("what a webhook was asked ends with its client: %s", async (_, path, body) => {
  upstream.answer(({ json }) => {
    if (json?.["stream"] !== true) return chatAnswer({ content: "Hi." });
    return sse([chatChunk({ content: "Hi." }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]);
  });
  asked = Promise.withResolvers();
  const leaving = new AbortController();
  const answer = app
    .call(path, {
      method: "POST",
      body: JSON.stringify(body),
      signal: leaving.signal,
      headers: { "content-type": "application/json" },
    })
    .then((response) => response.text())
    .catch(() => "left");
  const { signal } = await asked.promise;
  const ended = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  leaving.abort();
  expect(await answer).toBe("left");
  await ended;
  await app.flushLogs();
  expect(JSON.stringify(app.logs)).not.toContain("internal_error");
});
