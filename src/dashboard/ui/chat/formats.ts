// The formats of the playground: how each encodes a conversation, and how its stream is read.

import { type ChatReply, type Message, playTools, type Settings, schemaOf, sentMessages } from "./conversation.ts";

type Json = Readonly<Record<string, unknown>>;

/** A client format. */
export interface ChatFormat {
  readonly slug: Settings["format"];
  readonly name: string;
  /** The path in the API, for clients with a key. */
  readonly path: string;
  /** Throws `SettingsProblem`. */
  body(settings: Settings, messages: readonly Message[]): Json;
  /** The answer after the next event of its stream. Throws `StreamFailure`. */
  read(reply: ChatReply, event: Json): ChatReply;
}

/** The stream has reported an error. */
export class StreamFailure extends Error {
  readonly code: string;

  constructor(error: unknown) {
    const { message, code, type } = (error ?? {}) as Json;
    super(typeof message === "string" ? message : "The answer broke off.");
    this.code = String(code ?? type ?? "unknown");
  }
}

/** Anthropic's format requires a value. */
const MAX_TOKENS = 4096;

const number = (text: string) => (text.trim() === "" ? undefined : Number(text));
const list = <T>(items: readonly T[]) => (items.length === 0 ? undefined : items);

/** The formats; the first is the default. */
export const CHAT_FORMATS: readonly [ChatFormat, ...ChatFormat[]] = [
  {
    slug: "chat",
    name: "Chat completions",
    path: "/v1/chat/completions",
    body: (settings, messages) => ({
      model: settings.model,
      messages: [
        ...(settings.system.trim() === "" ? [] : [{ role: "system", content: settings.system }]),
        ...sentMessages(messages).map(chatMessage),
      ],
      ...common(settings),
      max_tokens: number(settings.maxTokens),
      reasoning_effort: settings.effort || undefined,
      tools: list(playTools(settings).map((tool) => ({ type: "function", function: tool }))),
      response_format: settings.shape === "text" ? undefined : chatShape(settings),
      stream: true,
      stream_options: { include_usage: true },
    }),
    read: readChat,
  },
  {
    slug: "responses",
    name: "Responses",
    path: "/v1/responses",
    body: (settings, messages) => ({
      model: settings.model,
      instructions: settings.system.trim() === "" ? undefined : settings.system,
      input: sentMessages(messages).flatMap(responsesItems),
      ...common(settings),
      max_output_tokens: number(settings.maxTokens),
      reasoning: settings.effort === "" ? undefined : { effort: settings.effort },
      tools: list(playTools(settings).map((tool) => ({ type: "function", ...tool }))),
      text: settings.shape === "text" ? undefined : { format: responsesShape(settings) },
      store: false,
      stream: true,
    }),
    read: readResponses,
  },
  {
    slug: "messages",
    name: "Messages",
    path: "/v1/messages",
    body: (settings, messages) => ({
      model: settings.model,
      max_tokens: number(settings.maxTokens) ?? MAX_TOKENS,
      system: settings.system.trim() === "" ? undefined : settings.system,
      messages: merged(sentMessages(messages).map(messagesTurn)),
      ...common(settings),
      tools: list(playTools(settings).map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters }))),
      output_config: outputConfig(settings),
      stream: true,
    }),
    read: readMessages,
  },
];

function common({ temperature, topP, threadId }: Settings): Json {
  return { temperature: number(temperature), top_p: number(topP), thread_id: threadId.trim() || undefined };
}

function chatShape(settings: Settings): Json {
  if (settings.shape === "json_object") return { type: "json_object" };
  return { type: "json_schema", json_schema: { name: "answer", schema: schemaOf(settings), strict: true } };
}

function responsesShape(settings: Settings): Json {
  if (settings.shape === "json_object") return { type: "json_object" };
  return { type: "json_schema", name: "answer", schema: schemaOf(settings), strict: true };
}

/** Anthropic's format supports schemas, but not JSON of any shape. */
function outputConfig(settings: Settings): Json | undefined {
  const format =
    settings.shape === "json_schema"
      ? { type: "json_schema", schema: schemaOf(settings) }
      : settings.shape === "json_object"
        ? { type: "json_schema", schema: { type: "object" } }
        : undefined;
  if (format === undefined && settings.effort === "") return undefined;
  return { format, effort: settings.effort || undefined };
}

function chatMessage(message: Message): Json {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.text };
  if (message.role === "assistant") {
    const calls = message.reply.calls.map(({ id, name, arguments: written }) => ({
      id,
      type: "function",
      function: { name, arguments: written },
    }));
    return { role: "assistant", content: message.reply.text, tool_calls: list(calls) };
  }
  if (message.images.length === 0) return { role: "user", content: message.text };
  const images = message.images.map((url) => ({ type: "image_url", image_url: { url } }));
  return { role: "user", content: [...textPart("text", message.text), ...images] };
}

function textPart(type: string, text: string): Json[] {
  return text === "" ? [] : [{ type, text }];
}

function responsesItems(message: Message): Json[] {
  if (message.role === "tool") return [{ type: "function_call_output", call_id: message.callId, output: message.text }];
  if (message.role === "user") {
    const images = message.images.map((image_url) => ({ type: "input_image", image_url }));
    return [{ role: "user", content: [...textPart("input_text", message.text), ...images] }];
  }
  const said = message.reply.text === "" ? [] : [{ role: "assistant", content: message.reply.text }];
  const calls = message.reply.calls.map(({ id, name, arguments: written }) => ({
    type: "function_call",
    call_id: id,
    name,
    arguments: written,
  }));
  return [...said, ...calls];
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: readonly Json[];
}

function messagesTurn(message: Message): Turn {
  if (message.role === "tool")
    return { role: "user", content: [{ type: "tool_result", tool_use_id: message.callId, content: message.text }] };
  if (message.role === "user")
    return { role: "user", content: [...message.images.map(imageBlock), ...textPart("text", message.text)] };
  const calls = message.reply.calls.map(({ id, name, arguments: written }) => ({
    type: "tool_use",
    id,
    name,
    input: objectOf(written),
  }));
  return { role: "assistant", content: [...textPart("text", message.reply.text), ...calls] };
}

function imageBlock(url: string): Json {
  const [, media_type = "", data = ""] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: "image", source: { type: "base64", media_type, data } };
}

/** The results of several tools form one turn. */
function merged(turns: readonly Turn[]): readonly Turn[] {
  const all: Turn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role !== turn.role) all.push(turn);
    else all[all.length - 1] = { role: turn.role, content: [...last.content, ...turn.content] };
  }
  return all;
}

function objectOf(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text) as unknown;
  } catch {
    // The model wrote invalid JSON, so its own text is sent back.
    return { written: text };
  }
}

function withCall(reply: ChatReply, at: number, more: { id?: unknown; name?: unknown; written?: unknown }): ChatReply {
  const calls = [...reply.calls];
  const known = calls[at] ?? { id: "", name: "", arguments: "" };
  calls[at] = {
    id: typeof more.id === "string" ? more.id : known.id,
    name: typeof more.name === "string" ? known.name + more.name : known.name,
    arguments: known.arguments + (typeof more.written === "string" ? more.written : ""),
  };
  return { ...reply, calls };
}

function withUsage(reply: ChatReply, input: unknown, output: unknown): ChatReply {
  return {
    ...reply,
    inputTokens: typeof input === "number" ? input : reply.inputTokens,
    outputTokens: typeof output === "number" ? output : reply.outputTokens,
  };
}

const words = (value: unknown) => (typeof value === "string" ? value : "");

function readChat(reply: ChatReply, event: Json): ChatReply {
  if (event["error"] !== undefined) throw new StreamFailure(event["error"]);
  const [choice] = (event["choices"] ?? []) as readonly { delta?: Json; finish_reason?: string | null }[];
  const delta = choice?.delta ?? {};
  let next: ChatReply = {
    ...reply,
    text: reply.text + words(delta["content"]),
    reasoning: reply.reasoning + words(delta["reasoning_content"]),
    finish: choice?.finish_reason ?? reply.finish,
  };
  for (const call of (delta["tool_calls"] ?? []) as readonly { index: number; id?: string; function?: Json }[]) {
    next = withCall(next, call.index, {
      id: call.id,
      name: call.function?.["name"],
      written: call.function?.["arguments"],
    });
  }
  const usage = event["usage"] as Json | null | undefined;
  return usage == null ? next : withUsage(next, usage["prompt_tokens"], usage["completion_tokens"]);
}

function readResponses(reply: ChatReply, event: Json): ChatReply {
  const response = event["response"] as Json | undefined;
  const item = event["item"] as Json | undefined;
  switch (event["type"]) {
    case "response.output_text.delta":
      return { ...reply, text: reply.text + words(event["delta"]) };
    case "response.reasoning_text.delta":
    case "response.reasoning_summary_text.delta":
      return { ...reply, reasoning: reply.reasoning + words(event["delta"]) };
    case "response.output_item.added":
      if (item?.["type"] !== "function_call") return reply;
      return withCall(reply, reply.calls.length, { id: item["call_id"], name: item["name"] });
    case "response.function_call_arguments.delta":
      // Items arrive one after the other, so the arguments belong to the last call.
      return withCall(reply, Math.max(0, reply.calls.length - 1), { written: event["delta"] });
    case "response.completed":
    case "response.incomplete": {
      const usage = (response?.["usage"] ?? {}) as Json;
      const finish = words(response?.["status"]) || undefined;
      return { ...withUsage(reply, usage["input_tokens"], usage["output_tokens"]), finish };
    }
    case "response.failed":
      throw new StreamFailure(response?.["error"]);
    case "error":
      throw new StreamFailure(event["error"] ?? event);
    default:
      return reply;
  }
}

function readMessages(reply: ChatReply, event: Json): ChatReply {
  const block = event["content_block"] as Json | undefined;
  const delta = (event["delta"] ?? {}) as Json;
  const usage = (event["usage"] ?? (event["message"] as Json | undefined)?.["usage"] ?? {}) as Json;
  switch (event["type"]) {
    case "message_start":
      return withUsage(reply, usage["input_tokens"], undefined);
    case "content_block_start":
      if (block?.["type"] !== "tool_use") return reply;
      return withCall(reply, reply.calls.length, { id: block["id"], name: block["name"] });
    case "content_block_delta":
      if (delta["type"] === "input_json_delta")
        return withCall(reply, Math.max(0, reply.calls.length - 1), { written: delta["partial_json"] });
      return {
        ...reply,
        text: reply.text + words(delta["text"]),
        reasoning: reply.reasoning + words(delta["thinking"]),
      };
    case "message_delta":
      return {
        ...withUsage(reply, usage["input_tokens"], usage["output_tokens"]),
        finish: words(delta["stop_reason"]) || reply.finish,
      };
    case "error":
      throw new StreamFailure(event["error"]);
    default:
      return reply;
  }
}

/** The request that a program would send: the same, but without streaming. */
export function codeBody(body: Json): Json {
  const { stream: _stream, stream_options: _options, ...rest } = body;
  return rest;
}
