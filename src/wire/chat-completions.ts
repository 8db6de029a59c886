// The OpenAI chat completions format (specification "Chat completion", "Chat completions stream").

import type { ChatEvent, FinishReason, Usage } from "../chat/event.ts";
import type { ChatResult, ResultChoice } from "../chat/result.ts";
import { decodeChatCompletions } from "./chat-completions-decode.ts";
import type { EventWriter, Exchange, StreamError, WireFormat } from "./format.ts";

type Json = Record<string, unknown>;

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
  refusal: "content_filter",
  stop_sequence: "stop",
  pause: "stop",
  context_window: "length",
  unknown: "stop",
};

/** `POST /v1/chat/completions`. */
export const chatCompletions: WireFormat = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  idPrefix: "chatcmpl-",
  dialect: "openai-chat",
  keepalive: ": ping\n\n",
  decode: decodeChatCompletions,
  encode,
  writer: (exchange) => new ChatWriter(exchange),
  error: (body) => ({ error: body }),
};

function encode(result: ChatResult, exchange: Exchange): Json {
  const fingerprint = result.raw?.["system_fingerprint"];
  return {
    id: exchange.id,
    object: "chat.completion",
    created: exchange.createdSeconds,
    model: exchange.model,
    ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
    choices: result.choices.map(encodeChoice),
    usage: encodeUsage(result.usage ?? { inputTokens: 0, outputTokens: 0 }),
  };
}

function encodeChoice(choice: ResultChoice): Json {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: Json[] = [];
  const logprobs: unknown[] = [];
  const annotations: unknown[] = [];
  let refusal: string | null = null;
  for (const block of choice.blocks) {
    if (block.type === "text") {
      if (block.refusal) refusal = (refusal ?? "") + block.text;
      else texts.push(block.text);
      logprobs.push(...(block.logprobs ?? []));
      annotations.push(...(block.annotations ?? []));
    } else if (block.type === "reasoning") thoughts.push(block.text || (block.summary ?? []).join("\n\n"));
    else if (block.type === "tool-call") {
      calls.push(
        block.kind === "custom"
          ? { id: block.callId, type: "custom", custom: { name: block.name, input: block.arguments } }
          : { id: block.callId, type: "function", function: { name: block.name, arguments: block.arguments } },
      );
    }
  }
  const thought = thoughts.join("");
  const empty = calls.length > 0 || refusal !== null ? null : "";
  return {
    index: choice.index,
    message: {
      role: "assistant",
      content: texts.length > 0 ? texts.join("") : empty,
      refusal,
      ...(thought === "" ? {} : { reasoning_content: thought }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(annotations.length > 0 ? { annotations } : {}),
    },
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishOf(choice.reason, calls.length > 0),
  };
}

function finishOf(reason: FinishReason, called: boolean): string {
  const word = REASONS[reason];
  return called && word === "stop" ? "tool_calls" : word;
}

function encodeUsage(usage: Usage): Json {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}

/** What one choice has sent. */
interface Line {
  before: string;
  toolIndex: Map<string, number>;
}

class ChatWriter implements EventWriter {
  readonly #exchange: Exchange;
  /** Everything of a chunk before its choice. */
  readonly #head: string;
  readonly #lines = new Map<number, Line>();
  #usage: Usage | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    const { id, createdSeconds: created, model } = exchange;
    this.#head = `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model }).slice(0, -1)},"choices":[`;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case "start":
        // Spec: the first chunk opens the stream with the role, before any text is there.
        return this.#line(0).opening;
      case "text-start":
      case "reasoning-start":
        return this.#line(event.choice).opening;
      case "text-delta": {
        const { opening, line } = this.#line(event.choice);
        if (event.logprobs !== undefined)
          return opening + this.#chunk(event.choice, { content: event.text }, event.logprobs);
        return `${opening}${line.before}{"content":${JSON.stringify(event.text)}},"logprobs":null,"finish_reason":null}]}\n\n`;
      }
      case "reasoning-delta": {
        const { opening, line } = this.#line(event.choice);
        return `${opening}${line.before}{"reasoning_content":${JSON.stringify(event.text)}},"logprobs":null,"finish_reason":null}]}\n\n`;
      }
      case "text-end":
        return event.annotations === undefined ? "" : this.#chunk(event.choice, { annotations: event.annotations });
      case "tool-start": {
        const { opening, line } = this.#line(event.choice);
        const index = line.toolIndex.size;
        line.toolIndex.set(event.id, index);
        const body =
          event.kind === "custom"
            ? { custom: { name: event.name, input: "" } }
            : { function: { name: event.name, arguments: "" } };
        return (
          opening + this.#chunk(event.choice, { tool_calls: [{ index, id: event.callId, type: event.kind, ...body }] })
        );
      }
      case "tool-delta": {
        const { line } = this.#line(event.choice);
        const index = line.toolIndex.get(event.id) ?? 0;
        return `${line.before}{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(event.text)}}}]},"logprobs":null,"finish_reason":null}]}\n\n`;
      }
      case "finish": {
        const { opening, line } = this.#line(event.choice);
        if (event.usage !== undefined) this.#usage = event.usage;
        const finish = finishOf(event.reason, line.toolIndex.size > 0);
        return `${opening}${line.before}{},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
      }
      default:
        return "";
    }
  }

  end(): string {
    if (!this.#exchange.request.includeUsage) return "data: [DONE]\n\n";
    const usage = encodeUsage(this.#usage ?? { inputTokens: 0, outputTokens: 0 });
    return `${this.#head}],"usage":${JSON.stringify(usage)}}\n\ndata: [DONE]\n\n`;
  }

  fail(error: StreamError): string {
    return `data: ${JSON.stringify({ error })}\n\n`;
  }

  #line(choice: number): { opening: string; line: Line } {
    const known = this.#lines.get(choice);
    if (known !== undefined) return { opening: "", line: known };
    const line = { before: `${this.#head}{"index":${choice},"delta":`, toolIndex: new Map<string, number>() };
    this.#lines.set(choice, line);
    return { opening: this.#chunk(choice, { role: "assistant", content: "" }), line };
  }

  #chunk(index: number, delta: Json, logprobs?: unknown[]): string {
    const content = logprobs === undefined ? null : { content: logprobs, refusal: null };
    return `${this.#head}${JSON.stringify({ index, delta, logprobs: content, finish_reason: null })}]}\n\n`;
  }
}
