// The cache sees what a guardrail masked: two people who write the same but for their values share one answer, and each of them gets
// the own value back.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { chatAnswer, chatChunk, sse, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    cache: { mode: "on" },
    guardrails: [{ name: "private", on: ["input", "output"], check: { kind: "pii", find: ["email"] }, action: "mask" }],
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer(({ json }) => {
    const text = "I write to [EMAIL_1] now.";
    if (json?.["stream"] !== true) return chatAnswer({ content: text });
    const pieces = [text.slice(0, 14), text.slice(14, 19), text.slice(19)].map((content) => chatChunk({ content }));
    return sse([...pieces, chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]);
  });
});

const PATHS = ["/v1/chat/completions", "/v1/messages"];
const CASES = PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const));

test.each(CASES)("%s, first stream %p: each value goes back to its own client", async (path, stream) => {
  const ask = async (address: string, isStream: boolean) => {
    const messages = [{ role: "user", content: `${path} ${stream}: write to ${address}, please.` }];
    const body = { model: "m", messages, temperature: 0, max_tokens: 50, stream: isStream };
    const response = await app.post(path, body);
    const text = await response.text();
    const pieces = [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, piece]) => piece);
    return [response.headers.get("x-sallyport-cache")?.slice(0, 4), pieces.join("")];
  };
  expect(await ask("ada@example.com", stream)).toEqual(["miss", "I write to ada@example.com now."]);
  for (const isStream of [false, true]) {
    expect(await ask("bob@example.org", isStream)).toEqual(["hit;", "I write to bob@example.org now."]);
  }
  expect(upstream.received).toHaveLength(1);
  expect(upstream.received[0]?.text).not.toContain("@example");
});
