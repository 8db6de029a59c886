// A prompt that is certainly longer than the model's configured context is refused before an upstream is called, in every format,
// with the counts. No other prompt is refused.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../support/fake-model.ts";
import { startUpstream } from "../../support/upstream.ts";

type Json = Record<string, unknown>;

const WINDOW = 2000;
const upstream = startUpstream((received) => say(received, { text: "ok" }));
const routes = [{ provider: "openai-chat", model: "up-model" }];
const reached = { base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } };
const app = await startTestApp({
  config: {
    providers: {
      ...Object.fromEntries(DIALECTS.map((name) => [name, { kind: KINDS[name], ...reached }])),
      router: { preset: "openrouter", ...reached },
      narrow: { kind: "openai", ...reached, model_defaults: { context_length: WINDOW } },
      wide: { kind: "openai", ...reached, model_defaults: { context_length: 100_000 } },
      enlarged: { kind: "anthropic", ...reached, headers: { "Anthropic-Beta": "context-1m-2025-08-07" } },
    },
    models: [
      { id: "routed", context_length: WINDOW, routes: [{ provider: "router", model: "up-model" }] },
      { id: "enlarged", context_length: WINDOW, routes: [{ provider: "enlarged", model: "up-model" }] },
      ...DIALECTS.map((id) => ({ id, context_length: WINDOW, routes: [{ provider: id, model: "up-model" }] })),
      { id: "unknown", routes },
      ...[["narrow"], ["narrow", "wide"], ["narrow", "openai-chat"]].map((providers) => ({
        id: providers.join(" and "),
        routes: providers.map((provider, at) => ({ provider, model: "up-model", priority: at + 1 })),
      })),
      { id: "large", context_length: 100_000, routes },
    ],
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const words = (count: number) => "word ".repeat(count);
const FORMATS: [string, (text: string) => Json][] = [
  ["/v1/chat/completions", (text) => ({ messages: [{ role: "user", content: text }] })],
  ["/v1/responses", (text) => ({ input: text })],
  ["/v1/messages", (text) => ({ max_tokens: 50, messages: [{ role: "user", content: text }] })],
  ["/v1/completions", (text) => ({ prompt: text })],
];
const TEXTS: [string, string, number][] = [
  ["3,000 words", words(3000), 3000],
  ["400,000 words", words(400_000), 400_000],
  ["a long text without spaces", "あ".repeat(WINDOW * 128 + 1), WINDOW + 1],
];

test.each(
  FORMATS.flatMap(([path, body]) => TEXTS.map(([name, text, least]) => ({ path, name, body: body(text), least }))),
)("a prompt beyond the model's context is refused before any call: $path: $name", async ({ path, body, least }) => {
  for (const model of DIALECTS) {
    for (const stream of [false, true]) {
      const response = await app.post(path, { ...body, model, stream });
      expect([response.status, model]).toEqual([400, model]);
      const { error } = (await response.json()) as { error: Json };
      expect(error).toMatchObject({
        code: "context_length_exceeded",
        message: `The prompt is too long: at least ${least} tokens > ${WINDOW} tokens, the context length of "${model}".`,
        details: { input_tokens: least, context_window: WINDOW },
      });
    }
  }
  expect(upstream.received).toHaveLength(0);
});

const split = (count: number) => Array.from({ length: count }, () => ({ role: "user", content: words(500) }));
const messages = [{ role: "user", content: words(3000) }];
test.each<[string, string, Json]>([
  ["the sum of the messages", "/v1/chat/completions", { messages: split(5) }],
  [
    "the system text",
    "/v1/messages",
    { max_tokens: 5, system: words(3000), messages: [{ role: "user", content: "a" }] },
  ],
  ["instructions", "/v1/responses", { instructions: words(3000), input: "a" }],
  [
    "a tool's result",
    "/v1/responses",
    {
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: words(3000) },
      ],
    },
  ],
])("%s counts", async (_name, path, body) => {
  const response = await app.post(path, { ...body, model: "gemini" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
  expect(upstream.received).toHaveLength(0);
});

const PASSED: [string, string, Json, string?][] = [
  ["a short prompt", "/v1/chat/completions", { messages: split(3) }],
  ["an unknown context", "/v1/chat/completions", { messages, model: "unknown" }],
  ["a larger context", "/v1/chat/completions", { messages, model: "large" }],
  ["a larger context at another route", "/v1/chat/completions", { messages, model: "narrow and wide" }],
  [
    "the route with the larger context",
    "/v1/chat/completions",
    { messages, model: "narrow and wide", provider: { only: ["wide"] } },
  ],
  ["an unknown context at another route", "/v1/chat/completions", { messages, model: "narrow and openai-chat" }],
  ["long words", "/v1/chat/completions", { messages: [{ role: "user", content: "x".repeat(100_000) }] }],
  ["a run of spaces", "/v1/chat/completions", { messages: [{ role: "user", content: `a${" ".repeat(100_000)}b` }] }],
  [
    "an image's bytes",
    "/v1/chat/completions",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A ".repeat(5000)}` } }],
        },
      ],
    },
  ],
  [
    "a prompt that the provider shortens",
    "/v1/responses",
    { input: words(3000), truncation: "auto", model: "openai-responses" },
  ],
  ["a list of the router's transforms", "/v1/chat/completions", { messages, transforms: ["middle-out"] }],
  ["a router's list of models", "/v1/chat/completions", { messages, models: ["a/large"], model: "routed" }],
  ["a larger context on demand", "/v1/messages", { messages, max_tokens: 5 }, "context-1m-2025-08-07"],
  ["a larger context by the operator's header", "/v1/messages", { messages, max_tokens: 5, model: "enlarged" }],
  ["white space between the members", "/v1/chat/completions", { messages: split(1), note: words(3000) }],
];

test.each(PASSED.map(([name, path, body, betas = ""]) => ({ name, path, body, betas })))(
  "$name is not refused",
  async (row) => {
    const { path, body, betas } = row;
    const model = path === "/v1/messages" ? "anthropic-messages" : "openai-chat";
    const response = await app.post(path, { model, ...body }, betas === "" ? {} : { "anthropic-beta": betas });
    expect([response.status, upstream.received.length]).toEqual([200, 1]);
  },
);

test("a conversation is compacted first", async () => {
  const turns = Array.from({ length: 40 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: words(100),
  }));
  const body = { model: "openai-chat", messages: [...turns, { role: "user", content: "go on" }] };
  expect((await app.post("/v1/chat/completions", body)).status).toBe(400);
  const response = await app.post("/v1/chat/completions", { ...body, thread_id: "t1" });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sallyport-compaction")).toContain("compacted");
});

test("the context of the only route counts, wherever it is stated", async () => {
  const response = await app.post("/v1/chat/completions", { model: "narrow", messages });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
});
