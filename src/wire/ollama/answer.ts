// Writes answers in the two formats of Ollama's API. A stream is one line of JSON for each piece, and the last line has the usage.

import { isoTime } from "../../base/iso-time.ts";
import { isRecord } from "../../base/json-object.ts";
import type { ChatEvent, FinishReason, Usage } from "../../chat/event.ts";
import type { ChatResult, ResultChoice } from "../../chat/result.ts";
import type { AnswerContext, EventWriter, StreamError } from "../format.ts";

type Json = Record<string, unknown>;

/** Where an answer has its text: in `message`, or in `response`. */
export type Shape = "chat" | "generate";

/** Writes a whole answer. The format has one answer for a request. */
export function encodeOllama(shape: Shape, { choices, usage }: ChatResult, exchange: AnswerContext): Json {
  const [choice] = choices;
  const totalNs = sinceMs(exchange.startedMs) * 1e6;
  const logprobs = choice?.blocks.flatMap((block) => (block.type === "text" ? (block.logprobs ?? []) : [])) ?? [];
  return {
    ...head(exchange),
    ...said(shape, contentOf(choice)),
    ...(logprobs.length > 0 ? { logprobs } : {}),
    ...ending(choice, usage, { totalNs, promptNs: 0, answerNs: totalNs }),
  };
}

interface Content {
  text: string;
  thinking: string;
  calls: Json[];
  /** Pictures in base64, as clients send theirs. */
  images?: string[];
}

function contentOf(choice: ResultChoice | undefined): Content {
  const content: Content & { images: string[] } = { text: "", thinking: "", calls: [], images: [] };
  for (const block of choice?.blocks ?? []) {
    if (block.type === "text") content.text += block.text;
    else if (block.type === "reasoning") content.thinking += block.text || (block.summary ?? []).join("\n\n");
    else if (block.type === "tool-call") content.calls.push(callOf(block, content.calls.length));
    else if (block.type === "image" && block.source.kind === "base64") content.images.push(block.source.data);
  }
  return content;
}

interface Call {
  readonly callId: string;
  readonly name: string;
  readonly kind: "function" | "custom";
  readonly arguments: string;
}

function callOf({ callId, name, kind, arguments: text }: Call, index: number): Json {
  // The arguments of a finished call are valid JSON; those of a call without arguments are an empty text.
  const given: unknown = kind === "custom" ? { input: text } : text.trim() === "" ? {} : JSON.parse(text);
  return { id: callId, function: { index, name, arguments: isRecord(given) ? given : { input: given } } };
}

function said(shape: Shape, { text, thinking, calls, images = [] }: Content): Json {
  const more = {
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(images.length === 0 ? {} : { images }),
  };
  return shape === "chat" ? { message: { role: "assistant", content: text, ...more } } : { response: text, ...more };
}

function head({ model, createdSeconds }: AnswerContext): Json {
  return { model, created_at: isoTime(createdSeconds * 1000) };
}

const DONE_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "stop",
  content_filter: "stop",
  refusal: "stop",
  stop_sequence: "stop",
  pause: "stop",
  context_window: "length",
  compaction: "stop",
  unknown: "stop",
};

/** The reasons of answers that no model gave, which only this protocol has. */
const OWN_REASONS: ReadonlySet<string> = new Set(["load", "unload"]);

/** How long a request has taken; 0 if its beginning is not known. */
function sinceMs(startedMs: number | undefined): number {
  return startedMs === undefined ? 0 : performance.now() - startedMs;
}

interface Durations {
  readonly totalNs: number;
  readonly promptNs: number;
  readonly answerNs: number;
}

function ending(
  choice: Pick<ResultChoice, "reason" | "rawReason"> | undefined,
  usage: Usage | undefined,
  { totalNs, promptNs, answerNs }: Durations,
): Json {
  const { reason = "unknown", rawReason = "" } = choice ?? {};
  const isOwn = OWN_REASONS.has(rawReason);
  return {
    done: true,
    done_reason: isOwn ? rawReason : DONE_REASONS[reason],
    ...(isOwn
      ? {}
      : {
          total_duration: Math.round(totalNs),
          load_duration: 0,
          prompt_eval_count: usage?.inputTokens ?? 0,
          prompt_eval_duration: Math.round(promptNs),
          eval_count: usage?.outputTokens ?? 0,
          eval_duration: Math.round(answerNs),
        }),
  };
}

/** Writes a streamed answer. A call of a tool is one line, once it is complete. */
export class OllamaWriter implements EventWriter {
  readonly #shape: Shape;
  readonly #exchange: AnswerContext;
  /** The beginning of every line. */
  readonly #head: string;
  /** The time until the first piece, in milliseconds. */
  #promptMs: number | undefined;
  /** The calls that are not complete, by the ids of their blocks. */
  readonly #open = new Map<string, Call>();
  #calls = 0;
  #finish: Extract<ChatEvent, { type: "finish" }> | undefined;
  #failed = false;

  constructor(shape: Shape, exchange: AnswerContext) {
    this.#shape = shape;
    this.#exchange = exchange;
    this.#head = `${JSON.stringify(head(exchange)).slice(0, -1)},`;
  }

  push(event: ChatEvent): string {
    if (this.#failed || ("choice" in event && event.choice !== 0)) return "";
    switch (event.type) {
      case "text-delta":
        if (event.text === "" && event.logprobs === undefined) return "";
        return this.#line("content", event.text, event.logprobs);
      case "reasoning-delta":
        return event.text === "" ? "" : this.#line("thinking", event.text);
      case "tool-start": {
        const { callId, name, kind } = event;
        this.#open.set(event.id, { callId, name, kind, arguments: "" });
        return "";
      }
      case "tool-delta": {
        const call = this.#open.get(event.id);
        if (call !== undefined) this.#open.set(event.id, { ...call, arguments: call.arguments + event.text });
        return "";
      }
      case "tool-end": {
        const call = this.#open.get(event.id);
        this.#open.delete(event.id);
        if (call === undefined) return "";
        this.#promptMs ??= sinceMs(this.#exchange.startedMs);
        const content = { text: "", thinking: "", calls: [callOf(call, this.#calls++)] };
        return `${this.#head}${JSON.stringify({ ...said(this.#shape, content), done: false }).slice(1)}\n`;
      }
      case "image": {
        if (event.source.kind !== "base64") return "";
        this.#promptMs ??= sinceMs(this.#exchange.startedMs);
        const content = { text: "", thinking: "", calls: [], images: [event.source.data] };
        return `${this.#head}${JSON.stringify({ ...said(this.#shape, content), done: false }).slice(1)}\n`;
      }
      case "finish":
        this.#finish = event;
        return "";
      case "error":
        return this.fail(event);
      default:
        return "";
    }
  }

  end(): string {
    if (this.#failed) return "";
    const totalMs = sinceMs(this.#exchange.startedMs);
    const promptMs = this.#promptMs ?? totalMs;
    const durations = { totalNs: totalMs * 1e6, promptNs: promptMs * 1e6, answerNs: (totalMs - promptMs) * 1e6 };
    const empty = said(this.#shape, { text: "", thinking: "", calls: [] });
    const last = { ...empty, ...ending(this.#finish, this.#finish?.usage, durations) };
    return `${this.#head}${JSON.stringify(last).slice(1)}\n`;
  }

  fail({ message, code }: Pick<StreamError, "message" | "code">): string {
    this.#failed = true;
    return `${JSON.stringify({ error: message, code })}\n`;
  }

  #line(member: "content" | "thinking", text: string, logprobs?: readonly unknown[]): string {
    this.#promptMs ??= sinceMs(this.#exchange.startedMs);
    const piece = JSON.stringify(text);
    const isText = member === "content";
    const tail = `${logprobs === undefined ? "" : `,"logprobs":${JSON.stringify(logprobs)}`},"done":false}\n`;
    if (this.#shape === "chat") {
      const rest = isText ? `"content":${piece}` : `"content":"","thinking":${piece}`;
      return `${this.#head}"message":{"role":"assistant",${rest}}${tail}`;
    }
    return `${this.#head}${isText ? `"response":${piece}` : `"response":"","thinking":${piece}`}${tail}`;
  }
}
