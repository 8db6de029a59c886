// A model that is not a chat model: it is not offered to chat clients, and every chat endpoint refuses it with 400.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream(undefined, ["talker", "text-embedding-3-small", "whisper-1", "sora-2"]);
  app = await startTestApp({
    config: {
      providers: { up: { kind: "openai", base_url: upstream.baseUrl } },
      models: [{ id: "hearer", kind: "transcription", routes: [{ provider: "up", model: "r" }] }],
    },
  });
  // Discovery continues after the start.
  while (!(await ids()).includes("talker"));
});
afterAll(() => Promise.all([app.stop(), upstream.stop()]));

async function ids(): Promise<string[]> {
  const { data } = (await (await app.call("/v1/models")).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

test("the list has the models that an endpoint takes, and what the operator lists", async () => {
  expect(await ids()).toEqual([
    ...["hearer", "talker", "text-embedding-3-small", "whisper-1"],
    ...["demo-echo", "demo-embed", "demo-rerank", "demo-transcribe", "demo-speak", "demo-image"],
  ]);
});

test.each([
  ["hearer", 200, "transcription"],
  ["text-embedding-3-small", 200, "embedding"],
  ["whisper-1", 200, "transcription"],
  ["talker", 200, "chat"],
  ["sora-2", 404, undefined],
])("GET /v1/models/%s: %d, type %p", async (id, status, type) => {
  const response = await app.call(`/v1/models/${id}`);
  expect(response.status).toBe(status);
  expect(((await response.json()) as { type?: string }).type).toBe(type!);
});

const messages = [{ role: "user", content: "hi" }];
test.each([
  ["/v1/chat/completions", { messages }],
  ["/v1/responses", { input: "hi" }],
  ["/v1/messages", { messages, max_tokens: 5 }],
  ["/v1/messages/count_tokens", { messages }],
  ["/v1/completions", { prompt: "hi" }],
])("POST %s", async (path, body) => {
  for (const [model, called, instead] of [
    ["text-embedding-3-small", "an embedding model", "Send it to POST /v1/embeddings instead."],
    ["hearer", "a transcription model", "Send it to POST /v1/audio/transcriptions instead."],
  ]) {
    const response = await app.post(path, { ...body, model });
    const text = await response.text();
    expect([response.status, text]).toEqual([400, expect.stringContaining(called!)]);
    expect(text).toContain(instead!);
    if (!path.startsWith("/v1/messages")) expect(text).toContain("wrong_model_family");
  }
  expect(upstream.received).toEqual([]);
});

test("a decision endpoint does not call it a chat model", async () => {
  const questions = { q: { type: "noul", instructions: "Is it?" } };
  const ask = (model: string) => app.post("/v1/systemone", { model, state: "s", questions });
  expect([(await ask("talker")).status, (await ask("hearer")).status]).toEqual([400, 404]);
});
