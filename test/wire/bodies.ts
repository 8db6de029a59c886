// A request in each format that uses nearly all of its features.

import type { Json } from "./support.ts";

const schema = { type: "object", properties: { a: { type: "string" } } };
/** A schema in the form that strict formats require: every property is required, and no others are allowed. */
const closedSchema = { ...schema, required: ["a"], additionalProperties: false };

export const MESSAGES_BODY: Json = {
  model: "claude-sonnet-4-5",
  max_tokens: 9000,
  system: [{ type: "text", text: "A", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm\u2028", signature: "Eq+/==" },
        { type: "redacted_thinking", data: "cmVk" },
        { type: "text", text: "Both." },
        { type: "tool_use", id: "toolu_a", name: "f", input: { a: "ü" } },
        { type: "tool_use", id: "toolu_b", name: "f", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_a", content: [{ type: "text", text: "ok" }] },
        {
          type: "tool_result",
          tool_use_id: "toolu_b",
          is_error: true,
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
        },
        { type: "text", text: "go on", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
  tools: [{ name: "f", description: "d", input_schema: schema, cache_control: { type: "ephemeral" } }],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 2048 },
  stop_sequences: ["END"],
  metadata: { user_id: "u" },
};

export const RESPONSES_BODY: Json = {
  model: "gpt-5",
  instructions: "Be brief.",
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "hi" },
        { type: "input_image", image_url: "https://example.org/a.png", detail: "low" },
        { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
      ],
    },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "S" }], encrypted_content: "gA==" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Both." }] },
    { type: "function_call", call_id: "a", name: "f", arguments: '{"a": 1}' },
    { type: "custom_tool_call", call_id: "b", name: "patch", input: "free" },
    { type: "function_call_output", call_id: "a", output: "ok" },
    { type: "custom_tool_call_output", call_id: "b", output: "ok" },
    { role: "user", content: [{ type: "input_text", text: "go on" }] },
  ],
  tools: [
    { type: "function", name: "f", description: "d", parameters: schema, strict: false },
    { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
    {
      type: "namespace",
      name: "n",
      description: "n",
      tools: [{ type: "function", name: "g", parameters: schema, strict: false }],
    },
    { type: "web_search", external_web_access: false },
  ],
  tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
  parallel_tool_calls: false,
  max_output_tokens: 500,
  reasoning: { effort: "high", summary: "auto" },
  text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: closedSchema, strict: true } },
  metadata: { a: "b" },
  user: "u",
  store: false,
};

const CHAT_BODY: Json = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "developer", content: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }] },
    {
      role: "user",
      name: "u",
      content: [
        { type: "text", text: "hi" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" } },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Hm",
      refusal: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        { id: "b", type: "custom", custom: { name: "patch", input: "free" } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "ok" },
    { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "ok" }] },
    { role: "user", content: "go on" },
  ],
  tools: [
    { type: "function", function: { name: "f", description: "d", parameters: schema, strict: true } },
    {
      type: "custom",
      custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } } },
    },
  ],
  tool_choice: { type: "function", function: { name: "f" } },
  parallel_tool_calls: false,
  max_tokens: 9,
  max_completion_tokens: 10,
  temperature: 1,
  top_p: 0.5,
  n: 2,
  seed: 7,
  stop: ["END"],
  presence_penalty: 1,
  frequency_penalty: -1,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { "5": -100 },
  response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
  reasoning_effort: "high",
  metadata: { a: "b" },
  stream: true,
  stream_options: { include_usage: true },
  user: "u",
  store: true,
  service_tier: "auto",
};

const COMPLETIONS_BODY: Json = {
  model: "m",
  prompt: ["Once"],
  max_tokens: 5,
  temperature: 0,
  n: 2,
  stream: true,
  stream_options: { include_usage: true },
  logprobs: 2,
  echo: true,
  stop: "END",
  logit_bias: { "5": -100 },
  seed: 7,
  suffix: null,
};

/** The requests by the name of the format. */
export const BODIES: Readonly<Record<string, readonly Json[]>> = {
  "openai-chat": [CHAT_BODY],
  "openai-responses": [RESPONSES_BODY],
  "anthropic-messages": [MESSAGES_BODY],
  "openai-completions": [COMPLETIONS_BODY],
};
