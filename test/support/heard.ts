// Parses what a client of each format receives, without the program's own code. Whole and streamed answers have the
// same form, so that formats, dialects and modes can be compared.

import { parseFrames } from "../../src/base/sse.ts";
import { gatherMessage } from "../wire/messages-order.ts";
import { gatherResponse } from "../wire/responses-order.ts";

type Json = Record<string, unknown>;

/** An answer as its client understands it. */
export interface Heard {
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  stop: unknown;
  usage: { input: number; output: number; cached: number; reasoning: number } | undefined;
}

/** The client formats: the path, a request, and how answers are parsed. */
export interface ClientFormat {
  name: string;
  path: string;
  /** It has neither calls of tools nor reasoning. */
  isTextOnly?: true;
  /** Its requests name no tools. */
  noTools?: true;
  /** Its answers have no ids, its usage has neither cached nor reasoning tokens, and its errors in a stream are a text. */
  isTerse?: true;
  /** A plain request; with `tools`, if the format has them. */
  body(options: { stream: boolean; tools: boolean }): Json;
  whole(body: Json): Heard;
  /** Throws if the stream violates the protocol's order. */
  streamed(text: string): Heard;
  /** The error with which a stream ended; undefined if it ended without one. */
  failure(text: string): Json | undefined;
  /** Its errors have no details. */
  noDetails?: true;
  /** The error of a request that was refused. */
  refusal(body: unknown): Json;
}

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const frames = (text: string) => parseFrames(text).map(({ event, data }) => ({ event, data }));
const parsed = (text: string) =>
  frames(text)
    .filter(({ data }) => data !== "[DONE]")
    .map(({ event, data }) => ({ event, data: JSON.parse(data) as Json }));
const list = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : []);
const text = (value: unknown) => (typeof value === "string" ? value : "");
const fields = (value: unknown) => (typeof value === "object" && value !== null ? (value as Json) : {});
const number = (value: unknown) => (typeof value === "number" ? value : 0);

function mustEnd(stream: string): void {
  if (frames(stream).at(-1)?.data !== "[DONE]") throw new Error("the stream does not end with [DONE]");
}

function chatUsage(usage: unknown): Heard["usage"] {
  if (typeof usage !== "object" || usage === null) return undefined;
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = usage as Json;
  return {
    input: number(prompt_tokens),
    output: number(completion_tokens),
    cached: number(fields(prompt_tokens_details)["cached_tokens"]),
    reasoning: number(fields(completion_tokens_details)["reasoning_tokens"]),
  };
}

const refusal = (body: unknown) => fields(fields(body)["error"]);

const chat: ClientFormat = {
  refusal,
  name: "openai-chat",
  path: "/v1/chat/completions",
  body: ({ stream, tools }) => ({
    model: "",
    messages: [{ role: "user", content: "How is it?" }],
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(tools ? { tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }] } : {}),
  }),
  whole(body) {
    const choice = list(body["choices"])[0] ?? {};
    const message = fields(choice["message"]);
    return {
      text: text(message["content"]),
      reasoning: text(message["reasoning_content"]),
      calls: list(message["tool_calls"]).map(({ function: fn }) => ({
        name: text(fields(fn)["name"]),
        args: JSON.parse(text(fields(fn)["arguments"])),
      })),
      stop: choice["finish_reason"],
      usage: chatUsage(body["usage"]),
    };
  },
  streamed(stream) {
    mustEnd(stream);
    const heard: Heard = { text: "", reasoning: "", calls: [], stop: undefined, usage: undefined };
    const calls = new Map<number, { name: string; json: string }>();
    parsed(stream).forEach(({ data }, i) => {
      const choice = list(data["choices"])[0];
      const delta = fields(choice?.["delta"]);
      if (i === 0 && delta["role"] !== "assistant") throw new Error("the first chunk names no role");
      if (heard.stop != null && Object.keys(delta).length > 0) throw new Error("a delta comes after the finish");
      heard.text += text(delta["content"]);
      heard.reasoning += text(delta["reasoning_content"]);
      for (const call of list(delta["tool_calls"])) {
        const index = number(call["index"]);
        const fn = fields(call["function"]);
        const known = calls.get(index);
        if (known === undefined) {
          if (typeof call["id"] !== "string") throw new Error("a call opens without an id");
          calls.set(index, { name: text(fn["name"]), json: text(fn["arguments"]) });
        } else known.json += text(fn["arguments"]);
      }
      heard.stop = choice?.["finish_reason"] ?? heard.stop;
      heard.usage = chatUsage(data["usage"]) ?? heard.usage;
    });
    heard.calls = [...calls.values()].map(({ name, json }) => ({ name, args: JSON.parse(json) }));
    return heard;
  },
  failure: (stream) => {
    const last = parsed(stream).at(-1)?.data;
    return last?.["error"] === undefined ? undefined : fields(last["error"]);
  },
};

const responses: ClientFormat = {
  refusal,
  name: "openai-responses",
  path: "/v1/responses",
  body: ({ stream, tools }) => ({
    model: "",
    input: "How is it?",
    store: false,
    ...(stream ? { stream } : {}),
    ...(tools ? { tools: [{ type: "function", name: "weather", parameters: PARAMETERS, strict: false }] } : {}),
  }),
  whole(body) {
    const items = list(body["output"]);
    const of = (type: string) => items.filter((item) => item["type"] === type);
    const usage = body["usage"] == null ? undefined : fields(body["usage"]);
    return {
      text: of("message")
        .flatMap((item) => list(item["content"]))
        .map((part) => text(part["text"]))
        .join(""),
      reasoning: of("reasoning")
        .flatMap((item) => list(item["summary"]))
        .map((part) => text(part["text"]))
        .join(""),
      calls: of("function_call").map((item) => ({
        name: text(item["name"]),
        args: JSON.parse(text(item["arguments"])),
      })),
      stop: body["status"],
      usage: usage && {
        input: number(usage["input_tokens"]),
        output: number(usage["output_tokens"]),
        cached: number(fields(usage["input_tokens_details"])["cached_tokens"]),
        reasoning: number(fields(usage["output_tokens_details"])["reasoning_tokens"]),
      },
    };
  },
  streamed(stream) {
    mustEnd(stream);
    return responses.whole(gatherResponse(parsed(stream)));
  },
  failure: (stream) => {
    const last = parsed(stream).at(-1)?.data;
    if (last?.["type"] !== "response.failed") return undefined;
    return fields(last["error"] ?? fields(last["response"])["error"]);
  },
};

const messages: ClientFormat = {
  refusal,
  name: "anthropic-messages",
  path: "/v1/messages",
  body: ({ stream, tools }) => ({
    model: "",
    max_tokens: 100,
    messages: [{ role: "user", content: "How is it?" }],
    ...(stream ? { stream } : {}),
    ...(tools ? { tools: [{ name: "weather", input_schema: PARAMETERS }] } : {}),
  }),
  whole(body) {
    const blocks = list(body["content"]);
    const of = (type: string) => blocks.filter((block) => block["type"] === type);
    const usage = fields(body["usage"]);
    const cached = number(usage["cache_read_input_tokens"]);
    return {
      text: of("text")
        .map((block) => text(block["text"]))
        .join(""),
      reasoning: of("thinking")
        .map((block) => text(block["thinking"]))
        .join(""),
      calls: of("tool_use").map((block) => ({ name: text(block["name"]), args: block["input"] })),
      stop: body["stop_reason"],
      // This protocol has no field for reasoning tokens, and counts cached tokens separately.
      usage: {
        input: number(usage["input_tokens"]) + cached,
        output: number(usage["output_tokens"]),
        cached,
        reasoning: 0,
      },
    };
  },
  streamed: (stream) => {
    const read = parsed(stream).filter(({ event }) => event !== "ping");
    const start = fields(fields(read[0]?.data["message"])["usage"]);
    const message = gatherMessage(read);
    return messages.whole({ ...message, usage: { ...start, ...fields(message["usage"]) } });
  },
  failure: (stream) => {
    const last = parsed(stream).at(-1);
    return last?.event === "error" ? fields(last.data["error"]) : undefined;
  },
};

const completions: ClientFormat = {
  refusal,
  name: "openai-completions",
  path: "/v1/completions",
  isTextOnly: true,
  noTools: true,
  body: ({ stream }) => ({
    model: "",
    prompt: "How is it?",
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  }),
  whole(body) {
    const choice = list(body["choices"])[0] ?? {};
    const usage = chatUsage(body["usage"]);
    return { text: text(choice["text"]), reasoning: "", calls: [], stop: choice["finish_reason"], usage };
  },
  streamed(stream) {
    mustEnd(stream);
    const heard: Heard = { text: "", reasoning: "", calls: [], stop: undefined, usage: undefined };
    for (const { data } of parsed(stream)) {
      const choice = list(data["choices"])[0];
      heard.text += text(choice?.["text"]);
      heard.stop = choice?.["finish_reason"] ?? heard.stop;
      heard.usage = chatUsage(data["usage"]) ?? heard.usage;
    }
    return heard;
  },
  failure: chat.failure,
};

const gemini: ClientFormat = {
  noDetails: true,
  refusal: (body) => {
    const error = refusal(body);
    const [info = {}] = list(error["details"]);
    return { param: null, ...error, details: undefined, code: info["reason"], ...fields(info["metadata"]) };
  },
  name: "gemini",
  path: "/v1beta/generateContent",
  body: ({ stream, tools }) => ({
    model: "",
    contents: [{ role: "user", parts: [{ text: "How is it?" }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    ...(stream ? { stream } : {}),
    ...(tools ? { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: PARAMETERS }] }] } : {}),
  }),
  whole(body) {
    const [candidate = {}] = list(body["candidates"]);
    const parts = list(fields(candidate["content"])["parts"]);
    const said = (isThought: boolean) =>
      parts.map((part) => ((part["thought"] === true) === isThought ? text(part["text"]) : "")).join("");
    const calls = parts.flatMap((part) => (part["functionCall"] === undefined ? [] : [fields(part["functionCall"])]));
    const usage = body["usageMetadata"] == null ? undefined : fields(body["usageMetadata"]);
    const reasoning = number(usage?.["thoughtsTokenCount"]);
    return {
      ...{ text: said(false), reasoning: said(true), stop: candidate["finishReason"] },
      calls: calls.map(({ name, args }) => ({ name: text(name), args })),
      usage: usage && {
        input: number(usage["promptTokenCount"]),
        output: number(usage["candidatesTokenCount"]) + reasoning,
        cached: number(usage["cachedContentTokenCount"]),
        reasoning,
      },
    };
  },
  streamed(stream) {
    const chunks = parsed(stream).map(({ data }) => data);
    const candidates = chunks.flatMap((chunk) => list(chunk["candidates"]));
    const last = candidates.at(-1) ?? {};
    if (typeof last["finishReason"] !== "string") throw new Error("the last chunk has no finish reason");
    const parts = candidates.flatMap((candidate) => list(fields(candidate["content"])["parts"]));
    return gemini.whole({ ...chunks.at(-1), candidates: [{ ...last, content: { parts } }] });
  },
  failure(stream) {
    const last = parsed(stream).at(-1)?.data;
    return last?.["error"] === undefined ? undefined : gemini.refusal(last);
  },
};

/** The two formats of Ollama's API, whose streams are lines of JSON. */
function ollama(name: string, path: string, message: (body: Json) => Json, asked: Json): ClientFormat {
  const lines = (stream: string) =>
    stream
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Json);
  const read = (all: readonly Json[]): Heard => {
    const heard: Heard = { text: "", reasoning: "", calls: [], stop: undefined, usage: undefined };
    for (const [at, body] of all.entries()) {
      if (body["done"] !== (at === all.length - 1)) throw new Error("only the last line is done");
      const said = message(body);
      heard.text += text(said["content"] ?? said["response"]);
      heard.reasoning += text(said["thinking"]);
      for (const { function: fn } of list(said["tool_calls"]))
        heard.calls.push({ name: text(fields(fn)["name"]), args: fields(fn)["arguments"] });
      heard.stop = body["done_reason"];
      heard.usage = {
        input: number(body["prompt_eval_count"]),
        output: number(body["eval_count"]),
        cached: 0,
        reasoning: 0,
      };
    }
    return heard;
  };
  return {
    name,
    path,
    isTerse: true,
    noDetails: true,
    refusal: (body) => ({ param: null, ...fields(body), message: fields(body)["error"] }),
    body: ({ stream, tools }) => ({
      model: "",
      stream,
      ...asked,
      ...(tools && name === "ollama-chat"
        ? { tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }] }
        : {}),
    }),
    whole: (body) => read([body]),
    streamed: (stream) => read(lines(stream)),
    failure: (stream) => {
      const last = lines(stream).at(-1);
      return last?.["error"] === undefined ? undefined : { message: last["error"] };
    },
  };
}

const ollamaChat = ollama("ollama-chat", "/api/chat", ({ message }) => fields(message), {
  messages: [{ role: "user", content: "How is it?" }],
});
const ollamaGenerate: ClientFormat = {
  ...ollama("ollama-generate", "/api/generate", (body) => body, { prompt: "How is it?" }),
  noTools: true,
};

/** All client formats. */
export const CLIENT_FORMATS = [chat, responses, messages, completions, gemini, ollamaChat, ollamaGenerate];
/** Those that tell of an answer's id and of the details of its usage. */
export const DETAILED_FORMATS = CLIENT_FORMATS.filter(({ isTerse }) => isTerse !== true);
