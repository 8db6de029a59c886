import { describe, expect, test } from "bun:test";
import { decodeCountTokens } from "../../src/wire/messages/decode.ts";
import { messagesFormat } from "../../src/wire/messages/format.ts";
import { expectRejected, type Json } from "./support.ts";

const base = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
const decode = (more: Json, betas?: string) =>
  messagesFormat.decode({ ...base, ...more }, betas === undefined ? {} : { betas });
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const assistant = (...content: unknown[]) => ({ messages: [{ role: "assistant", content }] });
const schema = { type: "object", properties: {}, $schema: "https://json-schema.org/draft/2020-12/schema" };

describe("refuses", () => {
  const rows: [string, Json, string][] = [
    ["no model", { model: undefined }, "model"],
    ["empty model", { model: "" }, "model"],
    ["model of another type", { model: 1 }, "model"],
    ["no messages", { messages: undefined }, "messages"],
    ["messages of another type", { messages: {} }, "messages"],
    ["no message at all", { messages: [] }, "messages"],
    ["a message that is none", { messages: ["hi"] }, "messages[0]"],
    ["no role", { messages: [{ content: "x" }] }, "messages[0].role"],
    ["unknown role", { messages: [{ role: "tool", content: "x" }] }, "messages[0].role"],
    ["system role", { messages: [base.messages[0], { role: "system", content: "x" }] }, "messages[1].role"],
    ["no content", { messages: [{ role: "user" }] }, "messages[0].content"],
    ["content of another type", { messages: [{ role: "user", content: 1 }] }, "messages[0].content"],
    ["a block that is none", user("x"), "messages[0].content[0]"],
    ["a block without type", user({ text: "x" }), "messages[0].content[0].type"],
    ["text without text", user({ type: "text" }), "messages[0].content[0].text"],
    ["image without source", user({ type: "image" }), "messages[0].content[0].source"],
    [
      "unknown source",
      user({ type: "text", text: "x" }, { type: "image", source: { type: "ftp" } }),
      "messages[0].content[1].source.type",
    ],
    [
      "base64 without data",
      user({ type: "image", source: { type: "base64", media_type: "image/png" } }),
      "messages[0].content[0].source.data",
    ],
    [
      "base64 without type",
      user({ type: "image", source: { type: "base64", data: "x" } }),
      "messages[0].content[0].source.media_type",
    ],
    ["url source without url", user({ type: "image", source: { type: "url" } }), "messages[0].content[0].source.url"],
    [
      "file source without id",
      user({ type: "image", source: { type: "file" } }),
      "messages[0].content[0].source.file_id",
    ],
    ["tool result without call", user({ type: "tool_result" }), "messages[0].content[0].tool_use_id"],
    [
      "tool result content",
      user({ type: "tool_result", tool_use_id: "a", content: 3 }),
      "messages[0].content[0].content",
    ],
    [
      "tool result block",
      user({ type: "tool_result", tool_use_id: "a", content: [{ type: "text" }] }),
      "messages[0].content[0].content[0].text",
    ],
    [
      "tool result flag",
      user({ type: "tool_result", tool_use_id: "a", is_error: "yes" }),
      "messages[0].content[0].is_error",
    ],
    ["tool call of a user", user({ type: "tool_use", id: "a", name: "f", input: {} }), "messages[0].content[0].type"],
    [
      "tool result of an assistant",
      assistant({ type: "tool_result", tool_use_id: "a" }),
      "messages[0].content[0].type",
    ],
    ["tool call without id", assistant({ type: "tool_use", name: "f", input: {} }), "messages[0].content[0].id"],
    ["tool call without name", assistant({ type: "tool_use", id: "a", input: {} }), "messages[0].content[0].name"],
    [
      "tool call with text input",
      assistant({ type: "tool_use", id: "a", name: "f", input: "{}" }),
      "messages[0].content[0].input",
    ],
    ["thinking without text", assistant({ type: "thinking", signature: "s" }), "messages[0].content[0].thinking"],
    ["redacted without data", assistant({ type: "redacted_thinking" }), "messages[0].content[0].data"],
    ["cache marker", user({ type: "text", text: "x", cache_control: "yes" }), "messages[0].content[0].cache_control"],
    ["system of another type", { system: 5 }, "system"],
    ["system block without text", { system: [{ type: "text" }] }, "system[0].text"],
    ["no max_tokens", { max_tokens: undefined }, "max_tokens"],
    ["max_tokens below zero", { max_tokens: -1 }, "max_tokens"],
    ["max_tokens fraction", { max_tokens: 1.5 }, "max_tokens"],
    ["max_tokens text", { max_tokens: "10" }, "max_tokens"],
    ["temperature below", { temperature: -0.1 }, "temperature"],
    ["temperature above", { temperature: 1.01 }, "temperature"],
    ["temperature text", { temperature: "1" }, "temperature"],
    ["top_p above", { top_p: 1.5 }, "top_p"],
    ["top_k below", { top_k: -1 }, "top_k"],
    ["stream text", { stream: "true" }, "stream"],
    ["stop_sequences text", { stop_sequences: "x" }, "stop_sequences"],
    ["stop_sequences element", { stop_sequences: ["x", 1] }, "stop_sequences[1]"],
    ["tools of another type", { tools: {} }, "tools"],
    ["tool without name", { tools: [{ input_schema: schema }] }, "tools[0].name"],
    ["tool without schema", { tools: [{ name: "f" }] }, "tools[0].input_schema"],
    ["tool_choice text", { tool_choice: "auto" }, "tool_choice"],
    ["tool_choice unknown", { tool_choice: { type: "some" } }, "tool_choice.type"],
    ["tool_choice without name", { tool_choice: { type: "tool" } }, "tool_choice.name"],
    ["thinking without budget", { thinking: { type: "enabled" } }, "thinking.budget_tokens"],
    ["thinking text", { thinking: "on" }, "thinking"],
    ["format of another type", { output_config: { format: { type: "text" } } }, "output_config.format.type"],
    ["format without schema", { output_config: { format: { type: "json_schema" } } }, "output_config.format.schema"],
    ["metadata text", { metadata: "x" }, "metadata"],
    ["user id of another type", { metadata: { user_id: 1 } }, "metadata.user_id"],
    ["thread of another type", { thread_id: 1 }, "thread_id"],
    ["thread of another type in metadata", { metadata: { conversation_id: 1 } }, "metadata.conversation_id"],
  ];
  test.each(rows)("%s", (_name, more, param) => expectRejected(() => decode(more), param));
});

describe("reads", () => {
  test("the smallest valid request", () => {
    expect(decode({})).toEqual({
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      stream: false,
      includeUsage: true,
      tools: [],
      maxTokens: 10,
      extra: {},
    });
  });

  test("every parameter", () => {
    const chat = decode({
      system: "Be brief.",
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ["END"],
      stream: true,
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2048 },
      output_config: { effort: "high", format: { type: "json_schema", schema } },
      metadata: { user_id: "u", thread_id: "th" },
      context_management: { edits: [] },
    });
    expect(chat).toMatchObject({
      temperature: 1,
      topP: 0.5,
      topK: 3,
      stop: ["END"],
      stream: true,
      toolChoice: { type: "required" },
      parallelToolCalls: false,
      reasoning: { effort: "high", enabled: true, budgetTokens: 2048 },
      responseFormat: { type: "json_schema", schema },
      user: "u",
      threadId: "th",
      extra: { context_management: { edits: [] } },
    });
    expect(chat.messages[0]).toEqual({ role: "system", content: [{ type: "text", text: "Be brief." }] });
    expect(chat.metadata).toBeUndefined();
  });

  test.each<[Json, Json]>([
    [{ thinking: { type: "disabled" } }, { enabled: false }],
    [{ thinking: { type: "adaptive", display: "omitted" } }, { enabled: true }],
    [{ thinking: { type: "adaptive" } }, { enabled: true, summary: "auto" }],
    [{ output_config: { effort: "max" } }, { effort: "max" }],
  ])("reasoning %j", (more, reasoning) => expect(decode(more).reasoning).toEqual(reasoning));

  test.each<[Json, string]>([
    [{ thread_id: "a", conversation_id: "b" }, "a"],
    [{ conversation_id: "b" }, "b"],
    [{ metadata: { conversation_id: "c" } }, "c"],
    [{ thread_id: "a", metadata: { thread_id: "c" } }, "a"],
  ])("thread %j", (more, thread) => expect(decode(more).threadId).toBe(thread));

  test.each<[Json, Json]>([
    [{ type: "auto" }, { type: "auto" }],
    [{ type: "none" }, { type: "none" }],
    [{ type: "any" }, { type: "required" }],
    [
      { type: "tool", name: "f" },
      { type: "tool", name: "f" },
    ],
  ])("tool choice %j", (choice, read) => expect(decode({ tool_choice: choice }).toolChoice).toEqual(read as never));

  test("tools of every kind", () => {
    const server = { type: "web_search_20250305", name: "web_search", max_uses: 8 };
    const chat = decode({
      tools: [
        {
          name: "f",
          description: "d",
          input_schema: schema,
          cache_control: { type: "ephemeral" },
        },
        { name: "later", input_schema: schema, defer_loading: true },
        { type: "custom", name: "g", input_schema: schema, strict: true },
        server,
      ],
    });
    expect(chat.tools).toEqual([
      { type: "function", name: "f", description: "d", parameters: schema, cacheControl: { type: "ephemeral" } },
      { type: "function", name: "g", parameters: schema, strict: true },
      { type: "server", origin: "anthropic-messages", name: "web_search_20250305", value: server },
    ]);
  });

  test("images and documents of every source", () => {
    const content = { type: "document", source: { type: "content", content: "x" } };
    const chat = decode(
      user(
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
        { type: "image", source: { type: "file", file_id: "file-1" }, cache_control: { type: "ephemeral" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "T" }, title: "t.txt" },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
        content,
        { type: "search_result", source: "s", title: "t", content: [] },
      ),
    );
    expect(chat.messages[0]?.content as unknown).toEqual([
      { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" } },
      { type: "image", source: { kind: "file", fileId: "file-1" }, cacheControl: { type: "ephemeral" } },
      { type: "file", source: { kind: "text", text: "T" }, filename: "t.txt" },
      { type: "file", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" } },
      { type: "opaque", origin: "anthropic-messages", value: content },
      {
        type: "opaque",
        origin: "anthropic-messages",
        value: { type: "search_result", source: "s", title: "t", content: [] },
      },
    ]);
  });

  test("a tool loop: signed thinking byte for byte, results apart from the text that follows", () => {
    const chat = decode({
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm\u2028", signature: "Eq+/==" },
            { type: "thinking", thinking: "", signature: "only" },
            { type: "thinking", thinking: "unsigned", signature: "" },
            { type: "redacted_thinking", data: "cmVk" },
            { type: "text", text: "Both.", citations: null },
            { type: "tool_use", id: "a", name: "f", input: { x: [1, "ü"] } },
            { type: "server_tool_use", id: "s", name: "web_search", input: {} },
            { type: "tool_use", id: "b", name: "g", input: {}, cache_control: { type: "ephemeral" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: "ok" },
            {
              type: "tool_result",
              tool_use_id: "b",
              is_error: true,
              content: [
                { type: "text", text: "no" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
                { type: "tool_reference", tool_name: "h" },
              ],
              cache_control: { type: "ephemeral" },
            },
            { type: "text", text: "go on" },
          ],
        },
      ],
    });
    expect(chat.messages as unknown).toEqual(TOOL_LOOP_READ);
  });

  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ["2023-06-01", false],
    ["2026-10-20", false],
    ["2026-10-21", true],
    ["2027-01-01", true],
    ["latest", false],
    ["9", false],
  ])("system messages in between by the version of the API: %p", (version, taken) => {
    const body = { ...base, messages: [...base.messages, { role: "system", content: "B" }] };
    const read = () => messagesFormat.decode(body, version === undefined ? {} : { version });
    if (taken) expect(read().messages.map(({ role }) => role)).toEqual(["user", "system"]);
    else expectRejected(read, "messages[1].role");
  });

  test("system messages in between with a beta header, even an empty one", () => {
    const chat = decode(
      {
        system: [{ type: "text", text: "A", cache_control: { type: "ephemeral" } }],
        messages: [
          { role: "user", content: "hi" },
          { role: "system", content: "B" },
          { role: "system", content: [], output_config: { effort: "low" } },
          { role: "system", content: [{ type: "text", text: "C" }] },
        ],
      },
      "mid-conversation-system-2026-04-07",
    );
    expect(chat.messages.map(({ role, content }) => [role, (content[0] as unknown as Json)["text"]])).toEqual([
      ["system", "A"],
      ["user", "hi"],
      ["system", "B"],
      ["system", "C"],
    ]);
  });

  test("count_tokens bodies without an output limit", () => {
    const { max_tokens: _limit, ...body } = base;
    expect(decodeCountTokens({ ...body, tools: [{ name: "f", input_schema: schema }] }, {}).tools).toHaveLength(1);
    expectRejected(() => decodeCountTokens({ model: "m" }, {}), "messages");
  });
});

/** The messages of a tool loop. */
const TOOL_LOOP_READ = [
  { role: "user", content: [{ type: "text", text: "go" }] },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Hm\u2028", signature: "Eq+/==", origin: "anthropic-messages" },
      { type: "reasoning", text: "", signature: "only", origin: "anthropic-messages" },
      { type: "reasoning", text: "unsigned" },
      { type: "reasoning", text: "", redacted: "cmVk", origin: "anthropic-messages" },
      { type: "text", text: "Both." },
      { type: "tool-call", callId: "a", name: "f", kind: "function", arguments: '{"x":[1,"ü"]}' },
      {
        type: "opaque",
        origin: "anthropic-messages",
        value: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      },
      {
        type: "tool-call",
        callId: "b",
        name: "g",
        kind: "function",
        arguments: "{}",
        cacheControl: { type: "ephemeral" },
      },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", callId: "a", content: [{ type: "text", text: "ok" }] },
      {
        type: "tool-result",
        callId: "b",
        isError: true,
        content: [
          { type: "text", text: "no" },
          { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
          { type: "opaque", origin: "anthropic-messages", value: { type: "tool_reference", tool_name: "h" } },
        ],
        cacheControl: { type: "ephemeral" },
      },
    ],
  },
  { role: "user", content: [{ type: "text", text: "go on" }] },
];
