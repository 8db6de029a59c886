import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../src/chat/request.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = openaiResponses.request(chat(part), context(more));
  return { ...sent, json: JSON.parse(sent.body) };
};
const text = (words: string) => ({ type: "text" as const, text: words });
const user = (...content: Extract<ChatMessage, { role: "user" }>["content"]): ChatMessage => ({
  role: "user",
  content,
});
const assistant = (...content: Extract<ChatMessage, { role: "assistant" }>["content"]): ChatMessage => ({
  role: "assistant",
  content,
});
const call = (callId: string, args = "{}") =>
  ({ type: "tool-call", callId, name: "f", kind: "function", arguments: args }) as const;

describe("input", () => {
  test("the smallest request has store false", () => {
    expect(send({})).toMatchObject({
      path: "/responses",
      json: {
        model: "up",
        store: false,
        input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      },
      dropped: [],
    });
  });

  test("system text keeps its position; reasoning, calls and outputs are items", () => {
    const { json } = send({
      messages: [
        { role: "system", content: [text("S")] },
        user(text("a"), { type: "image", source: { kind: "url", url: "https://x.test/i.png" }, detail: "low" }),
        assistant(
          {
            type: "reasoning",
            text: "",
            summary: ["sum"],
            itemId: "rs_1",
            encrypted: "E==",
            origin: "openai-responses",
          },
          { type: "reasoning", text: "t", signature: "s", origin: "anthropic-messages" },
          text("b"),
          call("c1", '{"x":1,}'),
          { type: "tool-call", callId: "c2", name: "patch", kind: "custom", arguments: "raw" },
        ),
        {
          role: "tool",
          content: [
            { type: "tool-result", callId: "c1", content: [text("no")], isError: true },
            {
              type: "tool-result",
              callId: "c2",
              content: [
                text("see"),
                { type: "image", source: { kind: "base64", mediaType: "image/png", data: "iVBO" } },
              ],
            },
          ],
        },
        { role: "system", content: [text("later")] },
      ],
      tools: [{ type: "custom", name: "patch" }],
    });
    expect(json.input).toEqual([
      { type: "message", role: "system", content: [{ type: "input_text", text: "S" }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "input_image", image_url: "https://x.test/i.png", detail: "low" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "sum" }], encrypted_content: "E==" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "b", annotations: [] }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"x":1}' },
      { type: "custom_tool_call", call_id: "c2", name: "patch", input: "raw" },
      { type: "function_call_output", call_id: "c1", output: "Error: no" },
      {
        type: "custom_tool_call_output",
        call_id: "c2",
        output: [
          { type: "input_text", text: "see" },
          { type: "input_image", image_url: "data:image/png;base64,iVBO", detail: "auto" },
        ],
      },
      { type: "message", role: "system", content: [{ type: "input_text", text: "later" }] },
    ]);
  });

  test("11: calls without output are answered, outputs without call become text", () => {
    const { json } = send({
      messages: [
        user(text("x")),
        assistant(call("a")),
        user(text("y")),
        { role: "tool", content: [{ type: "tool-result", callId: "z", content: [text("stray")] }] },
      ],
    });
    expect(json.input.map((item: { type: string }) => item.type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
      "message",
      "message",
    ]);
    expect(json.input[4].content[0].text).toContain("stray");
  });

  test("call ids longer than OpenAI takes are shortened alike in call and output", () => {
    const long = "x".repeat(100);
    const { json } = send({
      messages: [
        assistant(call(long)),
        { role: "tool", content: [{ type: "tool-result", callId: long, content: [] }] },
      ],
    });
    expect(json.input[0].call_id.length).toBeLessThanOrEqual(64);
    expect(json.input[1].call_id).toBe(json.input[0].call_id);
  });

  test("files of every source", () => {
    const file = (
      source: Extract<Extract<ChatMessage, { role: "user" }>["content"][number], { type: "file" }>["source"],
    ) => send({ messages: [user({ type: "file", source })] }).json.input[0].content[0];
    expect(file({ kind: "url", url: "https://x.test/a.pdf" })).toEqual({
      type: "input_file",
      file_url: "https://x.test/a.pdf",
    });
    expect(file({ kind: "file", fileId: "f1" })).toEqual({ type: "input_file", file_id: "f1" });
    expect(file({ kind: "text", text: "plain" })).toEqual({ type: "input_text", text: "plain" });
    expect(file({ kind: "base64", mediaType: "application/pdf", data: "JV" }).file_data).toBe(
      "data:application/pdf;base64,JV",
    );
  });
});

describe("tools", () => {
  test("functions say that they are not strict; custom tools, namespaces and own server tools stay; others are named", () => {
    const { json, dropped } = send({
      tools: [
        { type: "function", name: "a", description: "d", parameters: { type: "object" } },
        { type: "custom", name: "p", format: { type: "text" } },
        { type: "function", name: "n1", namespace: "ns" },
        { type: "function", name: "n2", namespace: "ns", strict: true },
        { type: "server", origin: "openai-responses", name: "web_search", value: { type: "web_search" } },
        { type: "server", origin: "anthropic-messages", name: "bash_20250124", value: {} },
      ],
    });
    const empty = { type: "object", properties: {} };
    expect(json.tools).toEqual([
      { type: "function", name: "a", description: "d", parameters: { type: "object" }, strict: false },
      { type: "custom", name: "p", format: { type: "text" } },
      {
        type: "namespace",
        name: "ns",
        tools: [
          { type: "function", name: "n1", parameters: empty, strict: false },
          { type: "function", name: "n2", parameters: { ...empty, additionalProperties: false }, strict: true },
        ],
      },
      { type: "web_search" },
    ]);
    expect(dropped).toEqual(["tools.bash_20250124"]);
  });

  test("custom tools become functions if the server does not know them", () => {
    const { json } = send({ tools: [{ type: "custom", name: "p" }] }, { quirks: { custom_tools: false } });
    expect(json.tools[0]).toMatchObject({ type: "function", name: "p" });
  });

  test.each([
    [{ type: "auto" }, "auto"],
    [{ type: "none" }, "none"],
    [{ type: "required" }, "required"],
    [
      { type: "tool", name: "f" },
      { type: "function", name: "f" },
    ],
    [
      { type: "tool", name: "f", kind: "custom" },
      { type: "custom", name: "f" },
    ],
    [
      { type: "allowed", mode: "auto", names: ["f"] },
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
    ],
  ] as const)("14: tool_choice %j", (toolChoice, expected) => {
    const { json } = send({
      tools: [{ type: "function", name: "f" }],
      toolChoice: toolChoice as NonNullable<ChatRequest["toolChoice"]>,
      parallelToolCalls: false,
    });
    expect(json.tool_choice).toEqual(expected);
    expect(json.parallel_tool_calls).toBe(false);
  });
});

const CLOSED = { type: "object", properties: {}, additionalProperties: false };

describe("parameters", () => {
  test("14: limit, sampling, text, identity", () => {
    const { json, dropped } = send({
      maxTokens: 3,
      temperature: 0.2,
      topP: 0.9,
      topLogprobs: 2,
      logprobs: true,
      verbosity: "low",
      responseFormat: { type: "json_schema", name: "n", schema: CLOSED, strict: true },
      user: "u".repeat(100),
      metadata: { a: "b", user_id: "x" },
      serviceTier: "flex",
      extra: { prompt_cache_key: "k", prediction: {} },
      topK: 5,
      seed: 1,
    });
    expect(json).toMatchObject({
      max_output_tokens: 16,
      temperature: 0.2,
      top_p: 0.9,
      top_logprobs: 2,
      include: ["message.output_text.logprobs"],
      text: { format: { type: "json_schema", name: "n", schema: CLOSED, strict: true }, verbosity: "low" },
      metadata: { a: "b" },
      service_tier: "flex",
      prompt_cache_key: "k",
    });
    expect(json.user).toHaveLength(64);
    expect([...dropped].sort()).toEqual(["prediction", "seed", "top_k"]);
  });

  test.each([
    [{ effort: "medium" }, "gpt-5-mini", { effort: "medium" }, []],
    [{ effort: "max" }, "gpt-5-mini", { effort: "high" }, ["reasoning_effort"]],
    [{ effort: "max" }, "gpt-5.4", { effort: "xhigh" }, ["reasoning_effort"]],
    [{ effort: "max" }, "gpt-5.6", { effort: "max" }, []],
    [{ effort: "minimal" }, "gpt-6", { effort: "low" }, ["reasoning_effort"]],
    [{ budgetTokens: 10_000, enabled: true, summary: "auto" }, "o3", { effort: "medium", summary: "auto" }, []],
    [{ effort: "low", enabled: true }, "o3", { effort: "low" }, []],
    [{ effort: "high" }, "gpt-4.1", undefined, ["reasoning_effort"]],
    [{ enabled: true }, "gpt-4.1", undefined, ["reasoning_effort"]],
  ] as const)("reasoning %j on %s", (reasoning, model, expected, dropped) => {
    const sent = send({ reasoning }, { model });
    expect(sent.json.reasoning).toEqual(expected);
    expect(sent.dropped).toEqual([...dropped]);
    expect(sent.json.include).toEqual(model === "gpt-4.1" ? undefined : ["reasoning.encrypted_content"]);
  });

  test("audio is refused by name", () => {
    let thrown: unknown;
    try {
      send({ messages: [user({ type: "audio", data: "", format: "wav" })] });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ apiCode: "unsupported_parameter", detail: { param: "messages" } });
  });

  test("parameters that the protocol lacks: the gateway handles stop sequences, and only one answer is requested", () => {
    const { json, dropped, cutAt } = send({ stop: ["x"], n: 2 });
    expect(cutAt).toEqual(["x"]);
    expect(dropped).toEqual(["n"]);
    expect(json).not.toHaveProperty("stop");
  });

  test("parameters that the provider refuses are left out and named", () => {
    expect(send({ metadata: { a: "b" } }, { quirks: { refuses: ["metadata", "store"] } })).toMatchObject({
      dropped: ["metadata"],
    });
    const drawn = send({ modalities: ["text", "image"] }, { quirks: { refuses: ["modalities"] } });
    expect(drawn.dropped).toEqual(["modalities"]);
    expect(drawn.json).not.toHaveProperty("tools");
    expect(send({ modalities: ["text"] }, { quirks: { refuses: ["modalities"] } }).dropped).toEqual([]);
  });
});
