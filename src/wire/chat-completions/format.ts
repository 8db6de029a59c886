// The OpenAI chat completions format (docs/reference/http-api.md#post-v1chatcompletions).

import { ERRORS } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import type { ChatEvent, FinishReason, ImageEvent, TextDelta, Usage } from "../../chat/event.ts";
import type { ChatResult, ResultChoice } from "../../chat/result.ts";
import type { Citation } from "../../chat/server-tools.ts";
import { webSearchesOf } from "../../chat/usage.ts";
import type { AnswerContext, EventWriter, StreamError, TextSurroundings, WireFormat } from "../format.ts";
import type { Source } from "../seal-envelopes.ts";
import { decodeChatCompletions } from "./decode.ts";
import { detailOf, extraContentOf, lastDetailOf } from "./details.ts";
import { chatEntries } from "./entries.ts";
import { CHAT_FIELDS } from "./fields.ts";
import { CHAT_NAMES, CHAT_READS } from "./members.ts";
import { routingOptions } from "./routing-options.ts";
import { openChat } from "./seals.ts";

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
  compaction: "stop",
  unknown: "stop",
};

/** The client format of `POST /v1/chat/completions`. */
export const chatCompletionsFormat: WireFormat = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  idPrefix: "chatcmpl-",
  dialect: "openai-chat",
  keepalive: ": ping\n\n",
  fields: CHAT_FIELDS,
  decode: decodeChatCompletions,
  routingOptions,
  openSeals: openChat,
  entries: chatEntries,
  encode,
  writer: (exchange) => new ChatWriter(exchange),
  turns: "messages",
  names: CHAT_NAMES,
  reads: CHAT_READS,
  reasoning: "messages.reasoning",
  // Some of these also have a neutral form, which does not cover all of their values.
  untranslatable: ["tool_choice", "response_format"],
  defaults: { temperature: true, maxTokens: true },
  losesReasoning: true,
  ownTools: [[/^openrouter:web_search$/, "web_search"]],
};

function encode(result: ChatResult, exchange: AnswerContext): Json {
  return {
    id: exchange.id,
    object: "chat.completion",
    created: exchange.createdSeconds,
    model: exchange.model,
    // Not every protocol has a fingerprint, but generated clients require the member.
    system_fingerprint: result.raw?.["system_fingerprint"] ?? null,
    choices: result.choices.map((choice) => encodeChoice(choice, exchange.source)),
    usage: encodeUsage(result.usage ?? { inputTokens: 0, outputTokens: 0 }),
  };
}

function encodeChoice(choice: ResultChoice, source: Source | undefined): Json {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const details: Json[] = [];
  const calls: Json[] = [];
  const logprobs: unknown[] = [];
  const refused: unknown[] = [];
  const annotations: unknown[] = [];
  const images: Json[] = [];
  let refusal: string | null = null;
  for (const block of choice.blocks) {
    if (block.type === "text") {
      if (block.refusal) refusal = (refusal ?? "") + block.text;
      else texts.push(block.text);
      (block.refusal ? refused : logprobs).push(...(block.logprobs ?? []));
      annotations.push(...annotationsOf(block.annotations));
      if (block.citations !== undefined) annotations.push(...block.citations.map(urlCitation));
    } else if (block.type === "reasoning") {
      const text = block.text || (block.summary ?? []).join("\n\n");
      thoughts.push(text);
      const detail = detailOf({ seals: block, source, text, summary: block.text === "", index: details.length });
      if (detail !== undefined) details.push(detail);
    } else if (block.type === "image") images.push(imageOf(block, images.length));
    else if (block.type === "tool-call") {
      calls.push(
        block.kind === "custom"
          ? { id: block.callId, type: "custom", custom: { name: block.name, input: block.arguments } }
          : {
              id: block.callId,
              type: "function",
              function: { name: block.name, arguments: block.arguments },
              ...extraContentOf(block, source),
            },
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
      ...(thought === ""
        ? {}
        : { reasoning_content: thought, ...(source === undefined ? {} : { reasoning: thought }) }),
      ...(details.length > 0 ? { reasoning_details: details } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(annotations.length > 0 ? { annotations } : {}),
      ...(images.length > 0 ? { images } : {}),
    },
    logprobs:
      logprobs.length + refused.length === 0
        ? null
        : { content: logprobs.length > 0 ? logprobs : null, refusal: refused.length > 0 ? refused : null },
    finish_reason: finishOf(choice.reason, calls.length > 0),
  };
}

/** A picture as OpenRouter's clients read it; OpenAI's format has none. */
function imageOf({ source }: Pick<ImageEvent, "source">, index: number): Json {
  const url = source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
  return { type: "image_url", image_url: { url }, index };
}

/** Citations of pages, the only annotations of this format. The Responses API has the same ones in a flat form. */
function annotationsOf(annotations: readonly unknown[] | undefined): Json[] {
  return (annotations ?? []).filter(isRecord).flatMap(({ type, ...rest }) => {
    if (type !== "url_citation") return [];
    return [{ type, url_citation: isRecord(rest["url_citation"]) ? rest["url_citation"] : rest }];
  });
}

/** A source that the gateway found. */
function urlCitation({ url, title, quote, before, start, end }: Citation): Json {
  const [start_index, end_index] = [before + start, before + end];
  return {
    type: "url_citation",
    url_citation: { url, title, ...(quote === "" ? {} : { content: quote }), start_index, end_index },
  };
}

function finishOf(reason: FinishReason, called: boolean): string {
  const word = REASONS[reason];
  return called && word === "stop" ? "tool_calls" : word;
}

function encodeUsage(usage: Usage): Json {
  const searches = webSearchesOf(usage);
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens ?? 0,
      ...(usage.cacheWriteTokens ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    ...(searches === undefined ? {} : { web_searches: searches }),
    ...(usage.costUsd === undefined ? {} : { cost: usage.costUsd }),
  };
}

/** A tool call whose start was sent. */
interface Call {
  index: number;
  custom: boolean;
  /** Whether a part of its arguments was sent. */
  fed: boolean;
}

/** What was sent of one choice. */
interface Line {
  before: string;
  calls: Map<string, Call>;
  /** Ids of the texts that are refusals. */
  refusals: Set<string>;
  /** The index of the summary part that is being sent. */
  summary: number | undefined;
  /** The text of the reasoning block that is being sent, and whether any of it is not a summary. */
  thought: string;
  raw: boolean;
  details: number;
  images: number;
}

class ChatWriter implements EventWriter {
  readonly #exchange: AnswerContext;
  /** The beginning of every chunk, up to its choice. */
  readonly #head: string;
  readonly #lines = new Map<number, Line>();
  #usage: Usage | undefined;

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
    const { id, createdSeconds: created, model } = exchange;
    this.#head = `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model }).slice(0, -1)},"choices":[`;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case "start":
        // The first chunk contains the role and comes before any text.
        return this.#line(0).opening;
      case "text-start": {
        const { opening, line } = this.#line(event.choice);
        if (event.refusal === true) line.refusals.add(event.id);
        return opening;
      }
      case "reasoning-start": {
        const { opening, line } = this.#line(event.choice);
        line.summary = undefined;
        line.thought = "";
        line.raw = false;
        return opening;
      }
      case "text-delta": {
        const { opening, line } = this.#line(event.choice);
        const member = line.refusals.has(event.id) ? "refusal" : "content";
        if (event.logprobs !== undefined)
          return opening + this.#chunk(event.choice, { [member]: event.text }, { [member]: event.logprobs });
        return `${opening}${line.before}{"${member}":${JSON.stringify(event.text)}},"logprobs":null,"finish_reason":null}]}\n\n`;
      }
      case "reasoning-delta": {
        const { opening, line } = this.#line(event.choice);
        const next = line.summary !== undefined && line.summary !== event.summaryIndex;
        line.summary = event.summaryIndex;
        const said = next ? `\n\n${event.text}` : event.text;
        line.thought += said;
        if (event.summaryIndex === undefined) line.raw = true;
        const text = JSON.stringify(said);
        // The text is sent under both names, since OpenRouter's clients only know the second one.
        const again = this.#exchange.source === undefined ? "" : `,"reasoning":${text}`;
        return `${opening}${line.before}{"reasoning_content":${text}${again}},"logprobs":null,"finish_reason":null}]}\n\n`;
      }
      case "reasoning-end": {
        const { opening, line } = this.#line(event.choice);
        const { source } = this.#exchange;
        const { thought: text, raw, details: index } = line;
        const detail = lastDetailOf({ seals: event, source, text, summary: !raw && text !== "", index });
        if (detail === undefined) return opening;
        line.details++;
        return opening + this.#chunk(event.choice, { reasoning_details: [detail] });
      }
      case "image": {
        const { opening, line } = this.#line(event.choice);
        return opening + this.#chunk(event.choice, { images: [imageOf(event, line.images++)] });
      }
      case "text-end": {
        const annotations = annotationsOf(event.annotations);
        return annotations.length === 0 ? "" : this.#chunk(event.choice, { annotations });
      }
      case "citation":
        return this.#chunk(event.choice, { annotations: [urlCitation(event.citation)] });
      case "tool-start":
        return this.#callStarts(event);
      case "tool-delta":
        return this.#arguments(event.choice, event.id, event.text);
      case "tool-end": {
        const call = this.#line(event.choice).line.calls.get(event.id);
        // For a call without arguments, an empty object is sent, since clients parse the text.
        return call === undefined || call.fed || call.custom ? "" : this.#arguments(event.choice, event.id, "{}");
      }
      case "error": {
        const { code, message } = event;
        const type = ERRORS[code].type;
        return this.fail({ message, type, code, param: null, request_id: this.#exchange.requestId });
      }
      case "finish": {
        const { opening, line } = this.#line(event.choice);
        if (event.usage !== undefined) this.#usage = event.usage;
        const finish = finishOf(event.reason, line.calls.size > 0);
        return `${opening}${line.before}{},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
      }
      default:
        return "";
    }
  }

  around(event: TextDelta): TextSurroundings | undefined {
    const line = this.#lines.get(event.choice);
    if (line === undefined) return undefined;
    const member = line.refusals.has(event.id) ? "refusal" : "content";
    return { before: `${line.before}{"${member}":"`, after: `"},"logprobs":null,"finish_reason":null}]}\n\n` };
  }

  #callStarts(event: Extract<ChatEvent, { type: "tool-start" }>): string {
    const { opening, line } = this.#line(event.choice);
    const custom = event.kind === "custom";
    const call = { index: line.calls.size, custom, fed: false };
    line.calls.set(event.id, call);
    const body = custom
      ? { custom: { name: event.name, input: "" } }
      : { function: { name: event.name, arguments: "" } };
    const seal = extraContentOf(event, this.#exchange.source);
    const tool_calls = [{ index: call.index, id: event.callId, type: event.kind, ...body, ...seal }];
    return opening + this.#chunk(event.choice, { tool_calls });
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
    const before = `${this.#head}{"index":${choice},"delta":`;
    const line: Line = {
      before,
      calls: new Map(),
      refusals: new Set(),
      summary: undefined,
      thought: "",
      raw: false,
      details: 0,
      images: 0,
    };
    this.#lines.set(choice, line);
    return { opening: this.#chunk(choice, { role: "assistant", content: "" }), line };
  }

  #arguments(choice: number, id: string, text: string): string {
    const { line } = this.#line(choice);
    const call = line.calls.get(id);
    if (call === undefined || text === "") return "";
    if (text.trim() !== "") call.fed = true;
    const json = JSON.stringify(text);
    const body = call.custom ? `"custom":{"input":${json}}` : `"function":{"arguments":${json}}`;
    return `${line.before}{"tool_calls":[{"index":${call.index},${body}}]},"logprobs":null,"finish_reason":null}]}\n\n`;
  }

  #chunk(index: number, delta: Json, tokens?: Json): string {
    const logprobs = tokens === undefined ? null : { content: null, refusal: null, ...tokens };
    return `${this.#head}${JSON.stringify({ index, delta, logprobs, finish_reason: null })}]}\n\n`;
  }
}
