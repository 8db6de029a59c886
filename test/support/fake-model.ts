// One scripted answer in every upstream protocol, whole and streamed. It was written by hand from the protocols'
// documentation and is what a provider would send for the same output of a model.

import { type Received, sse } from "./upstream.ts";

type Json = Record<string, unknown>;

/** The output of the model. */
export interface Said {
  reasoning?: { text: string; signature?: string };
  text?: string;
  calls?: { id: string; name: string; args: Json }[];
  usage?: { input: number; output: number; cached?: number; reasoning?: number };
  /** Responses: whether the provider stores the answer; taken from the request. */
  store?: boolean;
  /** Whether the output limit ended the answer. */
  cut?: boolean;
  /** Breaks off the stream after this many frames: by closing it, or with the protocol's error event. */
  breaks?: { after: number; with: "end" | "error" };
  /** The number of bytes in each network write of a stream; 0 sends it as a whole. */
  split?: number;
  /** Cuts a text into the fragments of a stream; without it, there are three. */
  pieces?: (text: string) => string[];
}

/** The protocols. */
export const DIALECTS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const;
export type DialectName = (typeof DIALECTS)[number];

/** The `kind` of a provider in the configuration. */
export const KINDS: Readonly<Record<DialectName, string>> = {
  "openai-chat": "openai",
  "openai-responses": "openai-responses",
  "anthropic-messages": "anthropic",
  gemini: "gemini",
};

/** The message of an upstream's error in a stream. */
export const BROKE = "The model server is overloaded.";

/** Answers a request in the protocol that its path indicates. */
export function say(received: Received, said: Said): Response {
  const dialect = dialectOf(received.path);
  const streaming = dialect === "gemini" ? received.path.includes(":stream") : received.json?.["stream"] === true;
  // OpenAI stores an answer unless the request says otherwise.
  const asked = dialect === "openai-responses" ? { ...said, store: received.json?.["store"] !== false } : said;
  if (!streaming) return Response.json(WHOLE[dialect](asked));
  let frames = FRAMES[dialect](asked);
  if (said.breaks !== undefined) {
    frames = frames.slice(0, said.breaks.after);
    if (said.breaks.with === "error") frames.push(ERROR_FRAMES[dialect]);
  }
  return sse(split(frames.join(""), said.split ?? 0));
}

/** The protocol that a request's path indicates. */
export function dialectOf(path: string): DialectName {
  if (path.endsWith("/chat/completions")) return "openai-chat";
  if (path.endsWith("/responses")) return "openai-responses";
  if (path.endsWith("/messages")) return "anthropic-messages";
  return "gemini";
}

function split(text: string, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  if (size === 0) return [bytes];
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/** A text in several fragments. */
function fragments(text: string, { pieces }: Said): string[] {
  if (pieces !== undefined) return pieces(text);
  const letters = [...text];
  const third = Math.max(1, Math.ceil(letters.length / 3));
  const out: string[] = [];
  for (let at = 0; at < letters.length; at += third) out.push(letters.slice(at, at + third).join(""));
  return out;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: Json) => `event: ${type}\n${data({ type, ...more })}`;
const usageOf = (said: Said) => said.usage ?? { input: 11, output: 7 };

// openai-chat

function chatUsage(said: Said): Json {
  const { input, output, cached, reasoning } = usageOf(said);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

const chatFinish = (said: Said) =>
  said.cut === true ? "length" : (said.calls ?? []).length > 0 ? "tool_calls" : "stop";
const chatHead = { id: "chatcmpl-up", created: 1, model: "up-model", system_fingerprint: "fp_up" };

function chatWhole(said: Said): Json {
  const tool_calls = (said.calls ?? []).map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = {
    role: "assistant",
    content: said.text ?? null,
    ...(said.reasoning === undefined ? {} : { reasoning_content: said.reasoning.text }),
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: chatFinish(said) }];
  return { ...chatHead, object: "chat.completion", choices, usage: chatUsage(said) };
}

function chatFrames(said: Said): string[] {
  const chunk = (delta: Json, finish_reason: string | null = null) =>
    data({ ...chatHead, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  const frames = [chunk({ role: "assistant", content: "" })];
  for (const text of fragments(said.reasoning?.text ?? "", said)) frames.push(chunk({ reasoning_content: text }));
  for (const text of fragments(said.text ?? "", said)) frames.push(chunk({ content: text }));
  (said.calls ?? []).forEach(({ id, name, args }, index) => {
    frames.push(chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }));
    for (const text of fragments(JSON.stringify(args), said)) {
      frames.push(chunk({ tool_calls: [{ index, function: { arguments: text } }] }));
    }
  });
  frames.push(chunk({}, chatFinish(said)));
  frames.push(data({ ...chatHead, object: "chat.completion.chunk", choices: [], usage: chatUsage(said) }));
  return [...frames, "data: [DONE]\n\n"];
}

// openai-responses

function responsesItems(said: Said): Json[] {
  const items: Json[] = [];
  if (said.reasoning !== undefined) {
    const { text, signature } = said.reasoning;
    const summary = text === "" ? [] : [{ type: "summary_text", text }];
    items.push({
      id: "rs_up1",
      type: "reasoning",
      summary,
      ...(signature === undefined ? {} : { encrypted_content: signature }),
    });
  }
  if (said.text !== undefined) {
    const content = [{ type: "output_text", text: said.text, annotations: [], logprobs: [] }];
    items.push({ id: "msg_up1", type: "message", role: "assistant", status: "completed", content });
  }
  for (const { id, name, args } of said.calls ?? []) {
    const whole = { type: "function_call", call_id: id, name, arguments: JSON.stringify(args), status: "completed" };
    items.push({ id: `fc_${id}`, ...whole });
  }
  return items;
}

/** The parameters that a provider repeats from a request that sets none of them. */
const RESPONSES_ECHO = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
};

function responsesWhole(said: Said): Json {
  const { input, output, cached = 0, reasoning = 0 } = usageOf(said);
  return {
    id: "resp_up",
    object: "response",
    created_at: 1,
    completed_at: said.cut === true ? null : 2,
    status: said.cut === true ? "incomplete" : "completed",
    error: null,
    incomplete_details: said.cut === true ? { reason: "max_output_tokens" } : null,
    model: "up-model",
    output: responsesItems(said),
    ...RESPONSES_ECHO,
    store: said.store ?? true,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

function responsesFrames(said: Said): string[] {
  const frames: string[] = [];
  const push = (type: string, more: Json) => frames.push(event(type, { ...more, sequence_number: frames.length }));
  const whole = responsesWhole(said);
  const open = {
    ...whole,
    status: "in_progress",
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  push("response.created", { response: open });
  push("response.in_progress", { response: open });
  responsesItems(said).forEach((item, output_index) => {
    const at = { item_id: item["id"], output_index };
    if (item["type"] === "reasoning") {
      push("response.output_item.added", { output_index, item: { ...item, summary: [] } });
      if (said.reasoning?.text) {
        const where = { ...at, summary_index: 0 };
        push("response.reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } });
        for (const delta of fragments(said.reasoning.text, said)) {
          push("response.reasoning_summary_text.delta", { ...where, delta });
        }
        push("response.reasoning_summary_text.done", { ...where, text: said.reasoning.text });
        const part = { type: "summary_text", text: said.reasoning.text };
        push("response.reasoning_summary_part.done", { ...where, part });
      }
    } else if (item["type"] === "message") {
      const where = { ...at, content_index: 0 };
      push("response.output_item.added", { output_index, item: { ...item, status: "in_progress", content: [] } });
      const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
      push("response.content_part.added", { ...where, part });
      for (const delta of fragments(said.text ?? "", said)) {
        push("response.output_text.delta", { ...where, delta, logprobs: [] });
      }
      push("response.output_text.done", { ...where, text: said.text, logprobs: [] });
      push("response.content_part.done", { ...where, part: { ...part, text: said.text } });
    } else {
      push("response.output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } });
      for (const delta of fragments(String(item["arguments"]), said)) {
        push("response.function_call_arguments.delta", { ...at, delta });
      }
      push("response.function_call_arguments.done", { ...at, name: item["name"], arguments: item["arguments"] });
    }
    push("response.output_item.done", { output_index, item });
  });
  push(`response.${String(whole["status"])}`, { response: whole });
  return frames;
}

// anthropic-messages

function anthropicBlocks(said: Said): Json[] {
  const blocks: Json[] = [];
  if (said.reasoning !== undefined) {
    const { text, signature = "" } = said.reasoning;
    blocks.push({ type: "thinking", thinking: text, signature });
  }
  if (said.text !== undefined) blocks.push({ type: "text", text: said.text });
  for (const { id, name, args } of said.calls ?? []) blocks.push({ type: "tool_use", id, name, input: args });
  return blocks;
}

function anthropicUsage(said: Said): Json {
  const { input, output, cached = 0 } = usageOf(said);
  return { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: output };
}

const anthropicStop = (said: Said) =>
  said.cut === true ? "max_tokens" : (said.calls ?? []).length > 0 ? "tool_use" : "end_turn";

function anthropicWhole(said: Said): Json {
  return {
    id: "msg_up",
    type: "message",
    role: "assistant",
    model: "up-model",
    content: anthropicBlocks(said),
    stop_reason: anthropicStop(said),
    stop_sequence: null,
    usage: anthropicUsage(said),
  };
}

function anthropicFrames(said: Said): string[] {
  const { output_tokens: _out, ...input } = anthropicUsage(said);
  const message = { ...anthropicWhole(said), content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
  const frames = [event("message_start", { message }), event("ping", {})];
  anthropicBlocks(said).forEach((block, index) => {
    const delta = (more: Json) => frames.push(event("content_block_delta", { index, delta: more }));
    if (block["type"] === "thinking") {
      const content_block = { type: "thinking", thinking: "", signature: "" };
      frames.push(event("content_block_start", { index, content_block }));
      for (const thinking of fragments(String(block["thinking"]), said)) delta({ type: "thinking_delta", thinking });
      delta({ type: "signature_delta", signature: block["signature"] });
    } else if (block["type"] === "text") {
      frames.push(event("content_block_start", { index, content_block: { type: "text", text: "" } }));
      for (const text of fragments(String(block["text"]), said)) delta({ type: "text_delta", text });
    } else {
      frames.push(event("content_block_start", { index, content_block: { ...block, input: {} } }));
      for (const partial_json of fragments(JSON.stringify(block["input"]), said)) {
        delta({ type: "input_json_delta", partial_json });
      }
    }
    frames.push(event("content_block_stop", { index }));
  });
  const usage = { output_tokens: usageOf(said).output };
  frames.push(event("message_delta", { delta: { stop_reason: anthropicStop(said), stop_sequence: null }, usage }));
  return [...frames, event("message_stop", {})];
}

// gemini

const geminiUsage = (said: Said): Json => {
  const { input, output, cached, reasoning = 0 } = usageOf(said);
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    totalTokenCount: input + output,
  };
};

const geminiFinish = (said: Said) => (said.cut === true ? "MAX_TOKENS" : "STOP");

function geminiParts(said: Said): Json[] {
  const parts: Json[] = [];
  if (said.reasoning?.text) parts.push({ text: said.reasoning.text, thought: true });
  if (said.text !== undefined) parts.push({ text: said.text });
  (said.calls ?? []).forEach(({ id, name, args }, i) => {
    const signature = i === 0 ? said.reasoning?.signature : undefined;
    parts.push({
      functionCall: { id, name, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    });
  });
  return parts;
}

function geminiChunk(parts: Json[], more: Json, finishReason?: string): Json {
  const candidate = { content: { role: "model", parts }, index: 0, ...(finishReason ? { finishReason } : {}) };
  return { candidates: [candidate], modelVersion: "up-model", responseId: "up", ...more };
}

function geminiFrames(said: Said): string[] {
  const frames = geminiParts(said).flatMap((part) =>
    typeof part["text"] === "string"
      ? fragments(part["text"], said).map((text) => data(geminiChunk([{ ...part, text }], {})))
      : [data(geminiChunk([part], {}))],
  );
  return [...frames, data(geminiChunk([{ text: "" }], { usageMetadata: geminiUsage(said) }, geminiFinish(said)))];
}

const WHOLE: Readonly<Record<DialectName, (said: Said) => Json>> = {
  "openai-chat": chatWhole,
  "openai-responses": responsesWhole,
  "anthropic-messages": anthropicWhole,
  gemini: (said) => geminiChunk(geminiParts(said), { usageMetadata: geminiUsage(said) }, geminiFinish(said)),
};

const FRAMES: Readonly<Record<DialectName, (said: Said) => string[]>> = {
  "openai-chat": chatFrames,
  "openai-responses": responsesFrames,
  "anthropic-messages": anthropicFrames,
  gemini: geminiFrames,
};

const ERROR_FRAMES: Readonly<Record<DialectName, string>> = {
  "openai-chat": data({ error: { message: BROKE, type: "server_error", code: "overloaded" } }),
  "openai-responses": event("error", { code: "server_error", message: BROKE, param: null, sequence_number: 99 }),
  "anthropic-messages": event("error", { error: { type: "overloaded_error", message: BROKE } }),
  gemini: data({ error: { code: 503, message: BROKE, status: "UNAVAILABLE" } }),
};
