// Every provider card fulfils the contract, and the model lists of vendors are read from samples.

import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../src/chat/request.ts";
import { PRESETS } from "../../src/config/presets.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { CARDS } from "../../src/upstream/providers/index.ts";
import { refusedFor } from "../../src/upstream/quirks.ts";
import { chat, context } from "./support.ts";

/** Entries of lists whose ids have another name, and what is read of them beside the id. */
const ENTRIES = new Map<string, readonly [entry: object, more?: object]>([
  ["gemini", [{ name: "models/a" }]],
  ["elevenlabs", [{ model_id: "a", can_do_text_to_speech: true }, { kind: "speech" }]],
]);
const card = (name: string) => CARDS.find((one) => one.name === name) ?? expect.unreachable(name);

describe.each(CARDS.map((one) => [`${one.name} (${one.dialect})`, one] as const))("%s", (_name, one) => {
  test("has the base URL of its preset", () => {
    expect(Object.keys(PRESETS)).toContain(one.name);
    expect(one.baseUrl).toBe(PRESETS[one.name]!.baseUrl);
  });

  test("sends the key in a header, and no header without a key", () => {
    expect(Object.values(one.headers("SECRET")).join()).toContain("SECRET");
    expect(JSON.stringify(one.headers(""))).not.toMatch(/bearer|api-key|goog/i);
    for (const name of Object.keys(one.headers("SECRET"))) expect(name).toBe(name.toLowerCase());
  });

  test("reads a list, skips entries that are not models, and refuses anything that is not a list", () => {
    if (one.parseModels === undefined) {
      expect(one.modelsPath).toBeUndefined();
      return;
    }
    const [entry, more] = ENTRIES.get(one.name) ?? [{ id: "a" }];
    for (const body of [{ data: [entry, null, {}, "x"] }, { models: [entry] }, [entry]]) {
      expect(one.parseModels(body)).toEqual([{ id: "a", ...more }]);
    }
    for (const body of [null, "x", {}, { data: {} }, { error: {} }]) expect(() => one.parseModels?.(body)).toThrow();
  });
});

test("no two cards share name and dialect", () => {
  expect(new Set(CARDS.map((one) => one.name + one.dialect)).size).toBe(CARDS.length);
});

describe("model lists", () => {
  test.each([
    ["openai", { id: "gpt-5-mini", object: "model", owned_by: "system" }, { id: "gpt-5-mini" }],
    ["openai", { id: "gpt-5", created: 1_754_425_777 }, { id: "gpt-5", createdSeconds: 1_754_425_777 }],
    ["openai", { id: "gpt-5", created: 0 }, { id: "gpt-5" }],
    ["openai", { id: "gpt-5", created: "x" }, { id: "gpt-5" }],
    [
      "anthropic",
      { id: "claude-x", created_at: "2026-02-04T00:00:00Z" },
      { id: "claude-x", createdSeconds: 1_770_163_200 },
    ],
    ["anthropic", { id: "claude-x", created_at: "1970-01-01T00:00:00Z" }, { id: "claude-x" }],
    ["openai", { id: "text-embedding-3-small" }, { id: "text-embedding-3-small", kind: "embedding" }],
    ["openai", { id: "gpt-4o-mini-transcribe" }, { id: "gpt-4o-mini-transcribe", kind: "transcription" }],
    ["openai", { id: "gpt-image-1" }, { id: "gpt-image-1", kind: "image" }],
    [
      "anthropic",
      { type: "model", id: "claude-x", display_name: "Claude X", max_input_tokens: 200000, max_tokens: 64000 },
      { id: "claude-x", name: "Claude X", contextLength: 200000, maxOutputTokens: 64000 },
    ],
    [
      "gemini",
      {
        name: "models/gemini-x",
        displayName: "Gemini X",
        inputTokenLimit: 1048576,
        outputTokenLimit: 65536,
        supportedGenerationMethods: ["generateContent", "countTokens"],
        thinking: true,
      },
      { id: "gemini-x", name: "Gemini X", contextLength: 1048576, maxOutputTokens: 65536, supportsReasoning: true },
    ],
    ["gemini", { name: "models/e", supportedGenerationMethods: ["embedContent"] }, { id: "e", kind: "embedding" }],
    [
      "openrouter",
      {
        id: "a/b",
        name: "A: B",
        context_length: 1000,
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
        top_provider: { max_completion_tokens: 100 },
        supported_parameters: ["tools", "temperature"],
      },
      {
        id: "a/b",
        name: "A: B",
        contextLength: 1000,
        maxOutputTokens: 100,
        supportsTools: true,
        supportsVision: true,
        supportsReasoning: false,
      },
    ],
    [
      "groq",
      { id: "llama", context_window: 131072, max_completion_tokens: 32768, active: true },
      { id: "llama", contextLength: 131072, maxOutputTokens: 32768 },
    ],
    ["groq", { id: "whisper-large-v3", active: true }, { id: "whisper-large-v3", kind: "transcription" }],
    [
      "mistral",
      {
        id: "m",
        max_context_length: 131072,
        capabilities: { completion_chat: true, function_calling: true, vision: false },
      },
      { id: "m", contextLength: 131072, supportsTools: true, supportsVision: false },
    ],
    ["together", { id: "t", type: "image" }, { id: "t", kind: "image" }],
    [
      "fireworks",
      { id: "f", supports_chat: true, supports_tools: true, supports_image_input: false, context_length: 5 },
      { id: "f", contextLength: 5, supportsTools: true, supportsVision: false },
    ],
    ["vllm", { id: "v", max_model_len: 4096 }, { id: "v", contextLength: 4096 }],
    ["llamacpp", { id: "l", meta: { n_ctx_train: 8192 } }, { id: "l", contextLength: 8192 }],
  ] as const)("%s %j", (name, entry, expected) => {
    expect(card(name).parseModels?.({ data: [entry] })).toEqual([expected]);
  });
});

describe("refusals", () => {
  const refused = (name: string, model: string) => refusedFor({ model, quirks: card(name).quirks }, undefined);

  test.each([
    ["openai", "o3-mini", "temperature", true],
    ["openai", "gpt-5-mini-2025-08-07", "temperature", true],
    ["openai", "gpt-5-chat-latest", "temperature", false],
    ["openai", "gpt-5.1", "temperature", false],
    ["openai", "gpt-4.1", "temperature", false],
    ["xai", "grok-4-0709", "reasoning_effort", true],
    ["xai", "grok-4.5", "reasoning_effort", false],
    ["xai", "grok-3-mini", "reasoning_effort", false],
    ["xai", "anything", "presence_penalty", true],
    ["mistral", "any", "seed", true],
  ])("%s %s %s: %j", (name, model, parameter, expected) => {
    expect(refused(name, model).includes(parameter)).toBe(expected);
  });

  test("globs match whole ids, in any letter case", () => {
    const of = (glob: string, model: string) =>
      refusedFor({ model, quirks: { refuses_by_model: { [glob]: ["x"] } } }, undefined).length > 0;
    expect([of("a*c*e", "AbCdE"), of("a*c", "abcd"), of("a", "ab"), of("*", ""), of("a*a", "a")]).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
  });
});

describe("quirks of chat completions", () => {
  const send = (name: string, part: Partial<ChatRequest>) => {
    const sent = openaiChat.request(chat(part), context({ quirks: card(name).quirks, model: "any" }));
    return { ...sent, json: JSON.parse(sent.body) };
  };
  const tools: ChatRequest["tools"] = [
    { type: "function", name: "f" },
    { type: "function", name: "g" },
  ];

  test("13: cache markers go only where they are known", () => {
    const messages: ChatRequest["messages"] = [
      { role: "user", content: [{ type: "text", text: "a", cacheControl: { type: "ephemeral" } }] },
    ];
    expect(send("openai", { messages }).json.messages[0].content).toBe("a");
    expect(send("openrouter", { messages }).json.messages[0].content[0].cache_control).toEqual({ type: "ephemeral" });
  });

  test("Mistral gets call ids of nine letters and digits, alike in call and result", () => {
    const { json } = send("mistral", {
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool-call", callId: "call_1", name: "f", kind: "function", arguments: "{}" }],
        },
        { role: "tool", content: [{ type: "tool-result", callId: "call_1", content: [] }] },
      ],
    });
    expect(json.messages[0].tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(json.messages[1].tool_call_id).toBe(json.messages[0].tool_calls[0].id);
  });

  test("LM Studio gets tool_choice as a string, and only the chosen tools", () => {
    const { json } = send("lmstudio", { tools, toolChoice: { type: "tool", name: "g" } });
    expect(json.tool_choice).toBe("required");
    expect(json.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(["g"]);
  });

  test("16: no stream_options if they are refused", () => {
    expect(send("mistral", { stream: true }).json).not.toHaveProperty("stream_options");
    expect(send("openai", { stream: true }).json.stream_options).toEqual({ include_usage: true });
  });

  test("14: the output limit is sent by the name that the server knows", () => {
    expect(send("openai", { maxTokens: 5 }).json.max_completion_tokens).toBe(5);
    expect(send("mistral", { maxTokens: 5 }).json.max_tokens).toBe(5);
  });

  test("10: DeepSeek gets its reasoning back", () => {
    const { json } = send("deepseek", {
      messages: [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm" },
            { type: "tool-call", callId: "c", name: "f", kind: "function", arguments: "{}" },
          ],
        },
      ],
    });
    expect(json.messages[0].reasoning_content).toBe("hm");
  });

  test("refused parameters are named", () => {
    expect(send("groq", { logprobs: true, seed: 1 })).toMatchObject({ dropped: ["logprobs"], json: { seed: 1 } });
  });
});
