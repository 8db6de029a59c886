// An output limit above the model's own: the messages format, whose coding agents send one number for every model, gets it lowered
// and named; the other formats get it refused. The same over every protocol.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.flatMap((id) => [
      { id, max_output_tokens: 9000, routes: [{ provider: id, model: "up-model" }] },
      { id: `${id}-unknown`, routes: [{ provider: id, model: "up-model" }] },
    ]),
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

const messages = [{ role: "user", content: "hi" }];
/** The output limit in a request of any protocol. */
const limitOf = (sent: Json) =>
  sent["max_tokens"] ??
  sent["max_completion_tokens"] ??
  sent["max_output_tokens"] ??
  (sent["generationConfig"] as Json | undefined)?.["maxOutputTokens"];

test.each(DIALECTS.flatMap((model) => [false, true].map((stream) => ({ model, stream }))))(
  "messages over $model, stream: $stream",
  async ({ model, stream }) => {
    const response = await app.post("/v1/messages", { model, messages, stream, max_tokens: 32_000 });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sallyport-dropped")?.split(", ")).toContain("max_tokens");
    expect(limitOf(upstream.received[0]!.json!)).toBe(9000);
    await response.text();
    const within = await app.post("/v1/messages", { model, messages, stream, max_tokens: 9000 });
    expect(within.headers.get("x-sallyport-dropped") ?? "").not.toContain("max_tokens");
    await within.text();
    const unknown = await app.post("/v1/messages", { model: `${model}-unknown`, messages, stream, max_tokens: 64_000 });
    expect(limitOf(upstream.received[2]!.json!)).toBe(64_000);
    await unknown.text();
  },
);

test("a thinking budget leaves tokens for the answer", async () => {
  const thinking = { type: "enabled", budget_tokens: 31_999, display: "omitted" };
  const body = { model: "anthropic-messages", messages, max_tokens: 32_000, thinking };
  const response = await app.post("/v1/messages", body);
  expect(response.headers.get("x-sallyport-dropped")).toBe("max_tokens, thinking.budget_tokens");
  expect(upstream.received[0]!.json).toMatchObject({
    max_tokens: 9000,
    thinking: { ...thinking, budget_tokens: 8999 },
  });
});

test.each([
  ["/v1/chat/completions", { messages, max_tokens: 9001 }, "max_tokens"],
  ["/v1/chat/completions", { messages, max_completion_tokens: 9001 }, "max_completion_tokens"],
  ["/v1/responses", { input: "hi", max_output_tokens: 9001 }, "max_output_tokens"],
  ["/v1/completions", { prompt: "hi", max_tokens: 9001 }, "max_tokens"],
])("%s refuses %j", async (path, body, param) => {
  for (const model of DIALECTS) {
    const response = await app.post(path, { ...body, model });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "max_tokens_exceeded", param } });
  }
  expect(upstream.received).toHaveLength(0);
});
