// Ollama's client against the running gateway, over every upstream protocol.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { type Message, Ollama, type Tool } from "ollama";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";
import { notedRuns } from "./runs.ts";

type Json = Record<string, unknown>;

let said: Said = {};
const upstream = startUpstream((received) => say(received, said));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries([
      ["demo", { preset: "demo" }],
      ...DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ]),
    models: [
      ...DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: id }] })),
      { id: "blind", supports_vision: false, routes: [{ provider: "openai-chat", model: "blind" }] },
    ],
  },
});
const client = new Ollama({ host: app.url, headers: { authorization: `Bearer ${app.key}` } });
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const WEATHER: Tool = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather.",
    parameters: {
      type: "object",
      required: ["city"],
      properties: { city: { type: "string", description: "A city." } },
    },
  },
};
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const question: Message = { role: "user", content: "Hello?" };
/** The package exports no type of this error. */
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: { status_code: number; error: unknown }) => ({ status: error.status_code, error: error.error }),
  );

const runs = notedRuns("Ollama's client (ollama)");

describe.each(DIALECTS)("over %s", (model) => {
  test("a whole answer, with its usage", async () => {
    said = { text: "Good day.", usage: { input: 11, output: 3 } };
    const answer = await client.chat({ model, messages: [question], options: { num_predict: 50, num_ctx: 4096 } });
    expect(answer).toMatchObject({
      ...{ model, message: { role: "assistant", content: "Good day." }, done: true, done_reason: "stop" },
      ...{ prompt_eval_count: 11, eval_count: 3, load_duration: 0 },
    });
    expect(answer.total_duration).toBeGreaterThan(0);
    expect(upstream.received).toHaveLength(1);
    runs.did("gets a whole answer with its usage", model);
  });

  test("a stream of thoughts, text and a call, and the next turn with its result", async () => {
    said = {
      reasoning: { text: "The city is known.", signature: "c2lnbmVk" },
      text: "One moment.",
      calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }],
      usage: { input: 20, output: 9 },
      split: 7,
    };
    const stream = await client.chat({ model, messages: [question], tools: [WEATHER], stream: true, think: true });
    const message: Message = { role: "assistant", content: "", thinking: "", tool_calls: [] };
    let last: Json = {};
    for await (const part of stream) {
      message.content += part.message.content;
      message.thinking += part.message.thinking ?? "";
      message.tool_calls?.push(...(part.message.tool_calls ?? []));
      last = { ...part };
    }
    expect(message.content).toBe("One moment.");
    expect(message.tool_calls).toMatchObject([{ function: { name: "weather", arguments: { city: "Oslo" } } }]);
    expect(last).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: 20, eval_count: 9 });
    said = { text: "Rain." };
    const result: Message = { role: "tool", content: "rain", tool_name: "weather" };
    const next = await client.chat({ model, messages: [question, message, result], tools: [WEATHER] });
    expect(next.message.content).toBe("Rain.");
    const sent = JSON.stringify(upstream.received[1]?.json);
    for (const part of ["Oslo", "rain", "One moment."]) expect(sent).toContain(part);
    runs.did("chats in a stream with thoughts and a call, and goes on with the result", model);
  });

  test("an image and a schema", async () => {
    said = { text: '{"a":1}' };
    const format = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    const answer = await client.generate({ model, prompt: "What is it?", images: [PNG], format, system: "Be brief." });
    expect(answer.response).toBe('{"a":1}');
    const sent = JSON.stringify(upstream.received[0]?.json);
    for (const part of [PNG, "What is it?", "Be brief.", "integer"]) expect(sent).toContain(part);
    runs.did("sends a picture and gets structured output", model);
  });

  test("an upstream's error within a stream", async () => {
    said = { text: "Half of", breaks: { after: 3, with: "error" } };
    const read = async () => {
      const stream = await client.chat({ model, messages: [question], stream: true });
      for await (const part of stream) expect(part.done).toBe(false);
      return "no error";
    };
    const message = await read().catch((error: Error) => error.message);
    expect(message).not.toBe("no error");
    runs.did("throws a provider's error within a stream", model);
  });
});

test("results without ids belong to the calls of their tools, in order", async () => {
  said = { text: "ok" };
  const call = (name: string) => ({ function: { name, arguments: { of: name } } });
  await client.chat({
    model: "openai-chat",
    messages: [
      question,
      { role: "assistant", content: "", tool_calls: [call("a"), call("b"), call("a")] },
      { role: "tool", content: "first b", tool_name: "b" },
      { role: "tool", content: "first a", tool_name: "a" },
      { role: "tool", content: "second a", tool_name: "a" },
    ],
  });
  const { messages } = (upstream.received[0]?.json ?? {}) as { messages: Json[] };
  const calls = messages.find(({ role }) => role === "assistant")?.["tool_calls"] as { id: string }[];
  const results = messages.filter(({ role }) => role === "tool");
  expect(results.map(({ tool_call_id: id, content }) => [calls.findIndex((one) => one.id === id), content])).toEqual([
    [1, "first b"],
    [0, "first a"],
    [2, "second a"],
  ]);
});

test.each([
  ["an empty prompt", () => client.generate({ model: "demo-echo", prompt: "" }), "load"],
  ["no messages", () => client.chat({ model: "demo-echo", messages: [] }), "load"],
  [
    "no messages, and nothing to keep",
    () => client.chat({ model: "demo-echo", messages: [], keep_alive: 0 }),
    "unload",
  ],
])("%s loads or unloads a model without a call", async (_name, ask, reason) => {
  expect(await ask()).toMatchObject({ done: true, done_reason: reason });
  expect(upstream.received).toHaveLength(0);
});

test("lists, one model, version and embeddings", async () => {
  const { models } = await client.list();
  expect(models.map(({ name }) => name)).toEqual(expect.arrayContaining([...DIALECTS, "demo-embed"]));
  expect(models.some(({ name }) => name === "demo-speak")).toBe(false);
  expect(await client.show({ model: "openai-chat:latest" })).toMatchObject({
    capabilities: expect.arrayContaining(["completion", "tools", "thinking"]),
    model_info: { "general.basename": "openai-chat" },
  });
  expect((await client.ps()).models).toEqual([]);
  expect((await client.version()).version).toMatch(/^0\.1[2-9]\.\d+$/);
  const { embeddings, prompt_eval_count: tokens } = await client.embed({ model: "demo-embed", input: ["one", "two"] });
  expect([embeddings.length, embeddings[0]?.length, tokens]).toEqual([2, 256, 2]);
});

test.each<[string, () => Promise<unknown>, number, string]>([
  ["an unknown model", () => client.chat({ model: "nope", messages: [question] }), 404, "does not exist"],
  ["a pull", () => client.pull({ model: "x" }), 404, "/api/pull is not offered"],
  ["a deletion", () => client.delete({ model: "x" }), 404, "/api/delete is not offered"],
  [
    "an image for a model that sees none",
    () => client.generate({ model: "blind", prompt: "?", images: [PNG] }),
    400,
    "image",
  ],
  [
    "an image in a message for a model that sees none",
    () => client.chat({ model: "blind", messages: [{ ...question, images: [PNG] }] }),
    400,
    "image",
  ],
  [
    "a text that is no image",
    () => client.generate({ model: "demo-echo", prompt: "?", images: ["aGk="] }),
    400,
    "'images[0]'",
  ],
  [
    "a result without a call",
    () => client.chat({ model: "demo-echo", messages: [question, { role: "tool", content: "x" }] }),
    400,
    "'messages[1]'",
  ],
])("the error of %s is a text", async (_name, ask, status, text) => {
  expect(await failureOf(ask())).toEqual({ status, error: expect.stringContaining(text) });
  expect(upstream.received).toHaveLength(0);
});

test("a request without a key gets a text too", async () => {
  const response = await fetch(`${app.url}/api/tags`);
  expect([response.status, await response.json()]).toEqual([
    401,
    { error: expect.any(String), code: "missing_api_key" },
  ]);
});

test("it did what the reference says of it", () => {
  expect(runs.all()).toEqual(runs.listed);
});
