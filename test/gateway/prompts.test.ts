// Legacy completions with several prompts: each prompt has its own answer, with consecutive indices.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { chatAnswer, chatChunk, framesOf, type Received, sse, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: {
      chat: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
    },
    models: [{ id: "m", routes: [{ provider: "chat", model: "up" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const promptOf = (received: Received) => String(((received.json?.["messages"] ?? []) as Json[])[0]?.["content"]);
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } };

/** Answers each prompt with its own text in capitals, `n` times. */
function shout(received: Received): Response {
  const text = promptOf(received).toUpperCase();
  const n = Number(received.json?.["n"] ?? 1);
  if (received.json?.["stream"] !== true) {
    const choices = Array.from({ length: n }, (_, index) => ({
      index,
      message: { role: "assistant", content: text },
      finish_reason: "stop",
    }));
    return chatAnswer({}, { extra: { choices, usage } });
  }
  const of = (make: (index: number) => string) => Array.from({ length: n }, (_, index) => make(index)).join("");
  return sse([
    of((index) => chatChunk({ role: "assistant", content: text.slice(0, 1) }, { index })),
    of((index) => chatChunk({ content: text.slice(1) }, { index })),
    of((index) => chatChunk({}, { finish: "length", index })),
    chatChunk(null, { usage }),
    "data: [DONE]\n\n",
  ]);
}

beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer(shout);
});

const complete = (body: Json) => app.post("/v1/completions", { model: "m", ...body });
const prompts = ["one", "two", "three", "four", "five", "six"];

test.each([1, 2])("whole answers (n: %p)", async (n) => {
  const body = (await (await complete({ prompt: prompts, n })).json()) as { choices: Json[]; usage: Json };
  expect(body.choices.map((choice) => choice["index"])).toEqual([...Array(6 * n).keys()]);
  expect(body.choices.map((choice) => choice["text"])).toEqual(prompts.flatMap((p) => Array(n).fill(p.toUpperCase())));
  expect(body).toMatchObject({ object: "text_completion", model: "m" });
  expect(body.usage).toEqual({
    prompt_tokens: 18,
    completion_tokens: 12,
    total_tokens: 30,
    prompt_tokens_details: { cached_tokens: 6 },
  });
});

test.each([1, 2])("streams (n: %p)", async (n) => {
  const response = await complete({ prompt: prompts, n, stream: true, stream_options: { include_usage: true } });
  const frames = await framesOf(response);
  expect(frames.at(-1)).toBe("[DONE]");
  const chunks = frames.slice(0, -1) as { choices: Json[]; usage?: Json }[];
  const texts = new Map<number, string>();
  const ends = new Map<number, unknown>();
  for (const { index, text, finish_reason } of chunks.flatMap((chunk) => chunk.choices)) {
    texts.set(Number(index), (texts.get(Number(index)) ?? "") + text);
    if (finish_reason !== null) ends.set(Number(index), finish_reason);
  }
  expect([...texts].sort(([a], [b]) => a - b).map(([, text]) => text)).toEqual(
    prompts.flatMap((p) => Array(n).fill(p.toUpperCase())),
  );
  expect([...ends.values()]).toEqual(Array(6 * n).fill("length"));
  expect(chunks.filter((chunk) => chunk.usage !== undefined)).toHaveLength(1);
  expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 30 });
});

test("echo repeats each prompt", async () => {
  const body = (await (await complete({ prompt: ["one ", "two "], echo: true })).json()) as { choices: Json[] };
  expect(body.choices.map((choice) => choice["text"])).toEqual(["one ONE ", "two TWO "]);
  const frames = (await framesOf(await complete({ prompt: ["one ", "two "], echo: true, stream: true }))) as Json[];
  expect(frames[0]).toMatchObject({ choices: [{ index: 0, text: "one " }] });
});

test("one prompt in a list is an ordinary request", async () => {
  const body = (await (await complete({ prompt: ["one"] })).json()) as { choices: Json[] };
  expect(body.choices).toMatchObject([{ index: 0, text: "ONE" }]);
});

describe("failures", () => {
  test.each([
    ["tokens", { prompt: [1, 2, 3] }],
    ["nothing", { prompt: [] }],
    ["an empty prompt", { prompt: ["one", ""] }],
    ["too many", { prompt: Array(129).fill("one") }],
    ["too many texts", { prompt: prompts, n: 128 }],
  ])("%s: 400", async (_name, body) => {
    const response = await complete(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_request", param: "prompt" } });
  });

  test("if one prompt fails, the request fails", async () => {
    upstream.answer((received) =>
      promptOf(received) === "two"
        ? Response.json({ error: { message: "bad", code: "invalid_prompt" } }, { status: 400 })
        : shout(received),
    );
    expect((await complete({ prompt: prompts })).status).toBe(400);
    expect((await complete({ prompt: ["two", "one"], stream: true })).status).toBe(400);
    const frames = await framesOf(await complete({ prompt: prompts, stream: true }));
    expect(frames.at(-1)).toMatchObject({ error: { code: "invalid_prompt", request_id: expect.any(String) } });
  });

  test("a stream that breaks off ends there", async () => {
    upstream.answer((received) =>
      promptOf(received) === "two" ? sse([chatChunk({ role: "assistant", content: "T" })]) : shout(received),
    );
    const frames = await framesOf(await complete({ prompt: prompts, stream: true }));
    expect(frames.at(-1)).toMatchObject({ error: { code: "provider_stream_interrupted" } });
    expect(frames).not.toContain("[DONE]");
    expect(upstream.received).toHaveLength(2);
  });
});
