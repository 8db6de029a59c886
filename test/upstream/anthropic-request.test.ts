import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../src/chat/request.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = anthropicMessages.request(chat(part), context(more));
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
const result = (
  callId: string,
  ...content: Extract<ChatMessage, { role: "tool" }>["content"][0]["content"]
): ChatMessage => ({
  role: "tool",
  content: [{ type: "tool-result", callId, content }],
});
const tools: ChatRequest["tools"] = [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }];

describe("tools", () => {
  test("schemas, descriptions, cache markers; server tools of others are named", () => {
    const { json, dropped } = send({
      tools: [
        {
          type: "function",
          name: "a",
          description: "d",
          parameters: { properties: { x: {} } },
          cacheControl: { type: "ephemeral" },
        },
        { type: "function", name: "b", strict: true },
        {
          type: "server",
          origin: "anthropic-messages",
          name: "web_search_20250305",
          value: { type: "web_search_20250305", name: "web_search" },
        },
        { type: "server", origin: "openai-responses", name: "file_search", value: {} },
      ],
    });
    expect(json.tools).toEqual([
      {
        name: "a",
        description: "d",
        input_schema: { properties: { x: {} }, type: "object" },
        cache_control: { type: "ephemeral" },
      },
      { name: "b", input_schema: { properties: {}, type: "object" } },
      { type: "web_search_20250305", name: "web_search" },
    ]);
    expect(dropped).toEqual(["strict", "tools.file_search"]);
  });

  test.each([
    [{ type: "auto" }, undefined, { type: "auto" }],
    [{ type: "none" }, false, { type: "none" }],
    [{ type: "required" }, undefined, { type: "any" }],
    [{ type: "tool", name: "f" }, false, { type: "tool", name: "f", disable_parallel_tool_use: true }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    [undefined, true, undefined],
    [{ type: "allowed", mode: "required", names: ["f"] }, undefined, { type: "tool", name: "f" }],
    [{ type: "allowed", mode: "required", names: ["f", "g"] }, undefined, { type: "any" }],
    [{ type: "allowed", mode: "auto", names: ["f"] }, undefined, { type: "auto" }],
  ] as const)("14: tool_choice %j with parallel calls %j", (toolChoice, parallelToolCalls, expected) => {
    const part: Partial<ChatRequest> = { tools: [...tools, { type: "function", name: "g" }] };
    if (toolChoice !== undefined) part.toolChoice = toolChoice as NonNullable<ChatRequest["toolChoice"]>;
    if (parallelToolCalls !== undefined) part.parallelToolCalls = parallelToolCalls;
    const { json } = send(part);
    expect(json.tool_choice).toEqual(expected);
    expect(json.tools).toHaveLength(2);
  });

  test("custom tools and namespaces become plain functions", () => {
    const { json } = send({
      tools: [
        { type: "custom", name: "patch" },
        { type: "function", name: "run", namespace: "shell" },
      ],
      messages: [
        user(text("x")),
        assistant({ type: "tool-call", callId: "a", name: "patch", kind: "custom", arguments: "raw" }),
      ],
    });
    expect(json.tools.map((tool: { name: string }) => tool.name)).toEqual(["patch", "shell__run"]);
    expect(json.messages[1].content[0].input).toEqual({ input: "raw" });
  });

  test("tools of a history with calls are declared even if the request has none", () => {
    const { json } = send({ messages: [user(text("x")), assistant(call("a")), result("a", text("r"))] });
    expect(json).toMatchObject({
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "none" },
    });
  });
});

describe("parameters", () => {
  test("limit, sampling, stop, stream, user", () => {
    const { json, dropped, cutAt } = send(
      { maxTokens: 77, temperature: 1.6, topP: 0.5, topK: 3, stop: ["END", " "], user: "u-1", serviceTier: "flex" },
      { stream: true },
    );
    expect(json).toMatchObject({
      max_tokens: 77,
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ["END"],
      stream: true,
    });
    expect(json.metadata).toEqual({ user_id: "u-1" });
    expect(dropped).toEqual(["service_tier"]);
    // Anthropic refuses a blank stop sequence.
    expect(cutAt).toEqual([" "]);
  });

  test("temperature and top_p are never sent together to a model that refuses both", () => {
    const { json, dropped } = send({ temperature: 0.7, topP: 0.5 }, { model: "claude-sonnet-4-5" });
    expect(json).toMatchObject({ temperature: 0.7 });
    expect(json).not.toHaveProperty("top_p");
    expect(dropped).toEqual(["top_p"]);
    expect(send({ temperature: 0.7 }, { model: "claude-opus-4-8" }).dropped).toEqual(["temperature"]);
  });

  test.each([
    [{ effort: "high" }, "claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: 16_384 } }],
    [{ budgetTokens: 3000 }, "claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: 3000 } }],
    [{ effort: "high" }, "claude-opus-4-6", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    [
      { effort: "xhigh" },
      "claude-opus-4-8",
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } },
    ],
    [{ effort: "minimal" }, "claude-opus-4-6", { output_config: { effort: "low" } }],
  ] as const)("reasoning %j on %s", (reasoning, model, expected) => {
    const { json } = send({ reasoning, maxTokens: 40_000, temperature: 0.7 }, { model });
    expect(json).toMatchObject(expected);
    // Thinking is only possible with temperature 1.
    expect(json).not.toHaveProperty("temperature");
  });

  test.each([
    ["none asked for", { reasoning: { effort: "none" } }, []],
    ["too little room", { reasoning: { effort: "high" }, maxTokens: 500 }, ["reasoning_effort"]],
    [
      "a forced tool",
      { reasoning: { effort: "high" }, maxTokens: 40_000, tools, toolChoice: { type: "required" } },
      ["reasoning_effort"],
    ],
    [
      "a tool loop whose calls have no signed thinking",
      {
        reasoning: { effort: "high" },
        maxTokens: 40_000,
        tools,
        messages: [user(text("x")), assistant(call("a")), result("a", text("r"))],
      },
      ["reasoning_effort"],
    ],
  ] as const)("no thinking with %s", (_name, part, dropped) => {
    const sent = send(part as Partial<ChatRequest>, { model: "claude-sonnet-4-5" });
    expect(sent.json).not.toHaveProperty("thinking");
    expect(sent.dropped).toEqual([...dropped]);
  });

  test("structured output: by parameter if the model supports it, otherwise in the system text", () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
    const responseFormat = { type: "json_schema", name: "n", schema } as const;
    expect(send({ responseFormat }, { model: "claude-sonnet-4-5" }).json.output_config).toEqual({
      format: { type: "json_schema", schema },
    });
    expect(send({ responseFormat }, { model: "other" }).json.system[0].text).toContain(JSON.stringify(schema));
    expect(send({ responseFormat: { type: "json_object" } }).json.system[0].text).toContain("JSON");
  });

  test("harmless extras are named, harmful ones refused", () => {
    const sent = send({
      seed: 1,
      presencePenalty: 0.5,
      logprobs: true,
      logitBias: { "5": 1 },
      extra: { prediction: {} },
      metadata: { a: "b" },
    });
    const names = ["seed", "presence_penalty", "logit_bias", "logprobs", "prediction", "metadata"];
    expect([...sent.dropped].sort()).toEqual(names.sort());
    for (const [param, part] of [
      ["modalities", { modalities: ["text", "audio"] as string[] }],
      ["messages", { messages: [user({ type: "audio", data: "", format: "wav" })] }],
    ] as const) {
      let thrown: unknown;
      try {
        send(part as Partial<ChatRequest>);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ apiCode: "unsupported_parameter", detail: { param } });
    }
  });

  test("parameters that the provider refuses are left out and named", () => {
    expect(send({ topK: 4 }, { quirks: { refuses: ["top_k"] } })).toMatchObject({ dropped: ["top_k"] });
  });
});
