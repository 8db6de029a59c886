import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { chatAnswer, chatChunk, type FakeUpstream, sse, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;

const USER = [{ role: "user", content: "hi" }];
const TOOLS = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "d",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  },
];

beforeAll(async () => {
  up = startUpstream();
  const route = [{ provider: "up", model: "up-model" }];
  const metadata = {
    owned_by: "up",
    context_length: 1000,
    max_output_tokens: 500,
    supports_tools: true,
    supports_vision: true,
  };
  app = await startTestApp({
    tier: "pro",
    config: {
      providers: {
        up: {
          kind: "openai",
          base_url: up.baseUrl,
          api_key: "up-secret",
          discover: false,
          retry: { attempts: 1 },
          breaker: { failures: 1000 },
        },
      },
      models: [
        { ...metadata, id: "Full", aliases: ["full-latest"], routes: route },
        { ...metadata, id: "blind", supports_vision: false, routes: route },
        { ...metadata, id: "toolless", supports_tools: false, routes: route },
        { ...metadata, id: "thinker", supports_reasoning: true, routes: route },
        { ...metadata, id: "above", tier: "premium", routes: route },
        { ...metadata, id: "secret-above", tier: "premium", visibility: "hidden", routes: route },
        { ...metadata, id: "hidden", visibility: "hidden", routes: route },
        { id: "unknown-limits", routes: route },
      ],
      decisions: {
        models: [
          {
            id: "judge-1",
            aliases: ["judge"],
            backend: { kind: "verbalized", routes: [{ provider: "up", model: "j" }] },
          },
        ],
      },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const chat = (body: Record<string, unknown>) =>
  app.post("/v1/chat/completions", { model: "Full", messages: USER, ...body });
const sent = () => up.received.at(-1)?.json ?? {};

// The parameters that docs/reference/http-api.md#post-v1chatcompletions describes.
describe("invalid parameters are refused before an upstream is called", () => {
  test.each<[string, Record<string, unknown>, string, string, number?]>([
    ["no model", { model: undefined }, "invalid_request", "model"],
    ["model not a string", { model: 5 }, "invalid_request", "model"],
    ["no messages", { messages: undefined }, "invalid_request", "messages"],
    ["empty messages", { messages: [] }, "invalid_request", "messages"],
    ["unknown role", { messages: [{ role: "robot", content: "x" }] }, "invalid_request", "messages[0].role"],
    ["content a number", { messages: [{ role: "user", content: 5 }] }, "invalid_request", "messages[0].content"],
    ["no content", { messages: [{ role: "user" }] }, "invalid_request", "messages[0].content"],
    [
      "part without text",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "invalid_request",
      "messages[0].content[0].text",
    ],
    [
      "image that is no URL",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "ftp://x" } }] }] },
      "invalid_request",
      "messages[0].content[0].image_url.url",
    ],
    [
      "tool message without id",
      { messages: [...USER, { role: "tool", content: "x" }] },
      "invalid_request",
      "messages[1].tool_call_id",
    ],
    ["temperature high", { temperature: 2.1 }, "invalid_request", "temperature"],
    ["temperature low", { temperature: -0.1 }, "invalid_request", "temperature"],
    ["temperature a string", { temperature: "1" }, "invalid_request", "temperature"],
    ["max_tokens zero", { max_tokens: 0 }, "invalid_request", "max_tokens"],
    ["max_tokens a fraction", { max_tokens: 1.5 }, "invalid_request", "max_tokens"],
    ["max_tokens above the model", { max_tokens: 501 }, "max_tokens_exceeded", "max_tokens"],
    [
      "max_completion_tokens above the model",
      { max_completion_tokens: 501, max_tokens: 5 },
      "max_tokens_exceeded",
      "max_completion_tokens",
    ],
    ["stream a string", { stream: "yes" }, "invalid_request", "stream"],
    [
      "include_usage a string",
      { stream: true, stream_options: { include_usage: "yes" } },
      "invalid_request",
      "stream_options.include_usage",
    ],
    ["tools an object", { tools: {} }, "invalid_request", "tools"],
    ["tool without name", { tools: [{ type: "function", function: {} }] }, "invalid_request", "tools[0].function.name"],
    ["tool_choice a word too many", { tools: TOOLS, tool_choice: "maybe" }, "invalid_request", "tool_choice"],
    ["n zero", { n: 0 }, "invalid_request", "n"],
    ["logprobs a number", { logprobs: 1 }, "invalid_request", "logprobs"],
    ["top_logprobs alone", { top_logprobs: 2 }, "invalid_request", "top_logprobs"],
    ["top_logprobs high", { logprobs: true, top_logprobs: 21 }, "invalid_request", "top_logprobs"],
    ["user a number", { user: 5 }, "invalid_request", "user"],
    ["thread_id empty", { thread_id: "" }, "invalid_request", "thread_id"],
    [
      "an image to a blind model",
      {
        model: "blind",
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }],
      },
      "image_input_not_supported",
      "messages[0].content[0]",
    ],
    ["tools to a model without", { model: "toolless", tools: TOOLS }, "tools_not_supported", "tools"],
    ["unknown model", { model: "nobody" }, "model_not_found", "model", 404],
    ["hidden above the tier", { model: "secret-above" }, "model_not_found", "model", 404],
    ["above the tier", { model: "above" }, "tier_required", "model", 403],
    ["a decision model", { model: "judge-1" }, "wrong_model_family", "model"],
    ["a decision alias", { model: "judge" }, "wrong_model_family", "model"],
  ])("%s", async (_name, body, code, param, status = 400) => {
    const before = up.received.length;
    const answer = await chat(body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code, param } });
    expect(up.received.length).toBe(before);
  });
});

describe("the request to the upstream", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ["defaults", {}, { model: "up-model", temperature: 0.7, max_tokens: 500 }, ["stream_options"]],
    ["no defaults for reasoning models", { model: "thinker" }, { model: "up-model" }, ["temperature", "max_tokens"]],
    ["unknown limits default to 4096", { model: "unknown-limits" }, { max_tokens: 4096 }, []],
    ["the client's own values", { temperature: 0, max_tokens: 7 }, { temperature: 0, max_tokens: 7 }, []],
    [
      "max_completion_tokens wins",
      { max_completion_tokens: 9, max_tokens: 7 },
      { max_completion_tokens: 9 },
      ["max_tokens"],
    ],
    ["unknown fields untouched", { foo: { bar: [1, null] } }, { foo: { bar: [1, null] } }, []],
    [
      "pass-through parameters",
      {
        seed: 7,
        user: "u",
        logprobs: true,
        top_logprobs: 2,
        store: true,
        n: 2,
        top_p: 0.5,
        stop: ["x"],
        presence_penalty: 1,
        frequency_penalty: -1,
        parallel_tool_calls: false,
        metadata: { a: "b" },
      },
      {
        seed: 7,
        user: "u",
        logprobs: true,
        top_logprobs: 2,
        store: true,
        n: 2,
        top_p: 0.5,
        stop: ["x"],
        presence_penalty: 1,
        frequency_penalty: -1,
        parallel_tool_calls: false,
        metadata: { a: "b" },
      },
      [],
    ],
    ["thread ids stay here", { thread_id: "t", conversation_id: "c" }, {}, ["thread_id", "conversation_id"]],
  ])("%s", async (_name, body, expected, absent) => {
    up.answer(() => chatAnswer({ content: "ok" }));
    expect((await chat(body)).status).toBe(200);
    expect(sent()).toMatchObject(expected);
    for (const name of absent) expect(sent()).not.toHaveProperty(name);
  });

  test("numbers that parsing would round keep their digits, and the key is the provider's", async () => {
    up.answer(() => chatAnswer({ content: "ok" }));
    await app.call("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"model":"full-latest","messages":[{"role":"user","content":"x"}],"seed":9223372036854775807,"weird":1.0}`,
    });
    expect(up.received.at(-1)?.text).toContain('"seed":9223372036854775807,"weird":1.0');
    expect(up.received.at(-1)?.headers.get("authorization")).toBe("Bearer up-secret");
  });

  test("usage is always asked for in streams", async () => {
    up.answer(() =>
      sse([chatChunk({ role: "assistant", content: "x" }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]),
    );
    await (await chat({ stream: true })).text();
    expect(sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });
});

describe("whole answers", () => {
  test("the gateway sets id and model, everything else comes from the upstream", async () => {
    up.answer(() =>
      chatAnswer({ content: "hello", odd: { deep: true } }, { extra: { system_fingerprint: "fp", odd_top: 1 } }),
    );
    const answer = await chat({ model: "full-latest" });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      object: "chat.completion",
      created: 1,
      model: "Full",
      system_fingerprint: "fp",
      odd_top: 1,
      choices: [
        { index: 0, message: { role: "assistant", content: "hello", odd: { deep: true } }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
    expect(body["id"]).toMatch(/^chatcmpl-/);
    expect(body["id"]).not.toBe("chatcmpl-up");
    expect(answer.headers.get("x-sallyport-model")).toBe("Full");
    expect(answer.headers.get("x-sallyport-route")).toBe("up/up-model");
  });

  test("an answer with tool calls ends with tool_calls, and its arguments are valid JSON text", async () => {
    const call = (args: unknown) => ({ id: "c1", type: "function", function: { name: "f", arguments: args } });
    for (const [given, expected] of [
      ['{"a":1}', '{"a":1}'],
      [{ a: 1 }, '{"a":1}'],
      ["", "{}"],
      ['{"a":1,}', '{"a":1}'],
    ] as const) {
      up.answer(() => chatAnswer({ content: null, tool_calls: [call(given)] }));
      const body = (await (await chat({ tools: TOOLS })).json()) as {
        choices: { message: Record<string, unknown>; finish_reason: string }[];
      };
      expect(body.choices[0]?.finish_reason).toBe("tool_calls");
      expect(body.choices[0]?.message["tool_calls"]).toEqual([call(expected)]);
      expect(body.choices[0]?.message["content"]).toBeNull();
    }
  });

  test("arguments beyond repair are an error, not broken JSON", async () => {
    up.answer(() =>
      chatAnswer({
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{]" } }],
      }),
    );
    const answer = await chat({ tools: TOOLS });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { code: "tool_arguments_invalid" } });
  });
});
