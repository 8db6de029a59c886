// The legacy client format of `POST /v1/completions`: a prompt and one text (docs/reference/http-api.md#post-v1completions). A
// prompt becomes one user message. Only text is returned, without reasoning and calls.

import { ERRORS } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import type { ChatEvent, FinishReason, Usage } from "../../chat/event.ts";
import type { ChatResult, ResultChoice } from "../../chat/result.ts";
import { CHAT_NAMES } from "../chat-completions/members.ts";
import { type Fields, given } from "../check.ts";
import type { AnswerContext, EventWriter, StreamError, WireFormat } from "../format.ts";
import { known } from "../unread.ts";
import { decodeCompletions, promptOf, severalPrompts } from "./decode.ts";
import { COMPLETIONS_FIELDS } from "./fields.ts";

type Json = Record<string, unknown>;

/** The completions format. */
export const completionsFormat: WireFormat = {
  name: "openai-completions",
  path: "/v1/completions",
  idPrefix: "cmpl-",
  keepalive: ": ping\n\n",
  fields: COMPLETIONS_FIELDS,
  decode: decodeCompletions,
  encode,
  writer: (exchange) => new CompletionsWriter(exchange),
  turns: "messages",
  names: { ...CHAT_NAMES, ...COMPLETIONS_FIELDS.names },
  reads: known({ holds: COMPLETIONS_FIELDS.shapes }),
  reasoning: "messages.reasoning",
  untranslatable: [],
  defaults: { temperature: true, maxTokens: true },
  prompts: severalPrompts,
};

function encode(result: ChatResult, exchange: AnswerContext): Json {
  return {
    ...head(exchange),
    choices: result.choices.map((choice) => encodeChoice(choice, echoOf(exchange))),
    usage: usageMembers(result.usage),
  };
}

function encodeChoice(choice: ResultChoice, echo: string): Json {
  let text = echo;
  const logprobs: unknown[] = [];
  for (const block of choice.blocks) {
    if (block.type !== "text") continue;
    text += block.text;
    logprobs.push(...(block.logprobs ?? []));
  }
  return {
    index: choice.index,
    text,
    logprobs: logprobs.length === 0 ? null : legacyLogprobs(logprobs, echo.length),
    finish_reason: FINISH_REASONS[choice.reason],
  };
}

function head({ id, createdSeconds, model }: AnswerContext): Json {
  return { id, object: "text_completion", created: createdSeconds, model };
}

/** The prompt, which is put before the text if the request has `echo`. */
function echoOf({ body }: AnswerContext): string {
  return body["echo"] === true ? promptOf(body) : "";
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "stop",
  content_filter: "content_filter",
  refusal: "content_filter",
  stop_sequence: "stop",
  pause: "stop",
  context_window: "length",
  compaction: "stop",
  unknown: "stop",
};

function usageMembers(usage: Usage | undefined): Json {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...given({
      prompt_tokens_details: usage?.cachedTokens === undefined ? undefined : { cached_tokens: usage.cachedTokens },
      completion_tokens_details:
        usage?.reasoningTokens === undefined ? undefined : { reasoning_tokens: usage.reasoningTokens },
      cost: usage?.costUsd,
    }),
  };
}

/** The log probabilities of a chat answer in the legacy form, which has four parallel lists. */
function legacyLogprobs(tokens: readonly unknown[], offset: number): Json {
  const read = tokens.filter(isRecord);
  let at = offset;
  return {
    tokens: read.map((token) => token["token"] ?? ""),
    token_logprobs: read.map((token) => token["logprob"] ?? null),
    top_logprobs: read.map((token) => topLogprobs(token)),
    text_offset: read.map((token) => {
      const here = at;
      at += String(token["token"] ?? "").length;
      return here;
    }),
  };
}

function topLogprobs(token: Fields): Json | null {
  const top = token["top_logprobs"];
  if (!Array.isArray(top) || top.length === 0) return null;
  return Object.fromEntries(top.filter(isRecord).map((one) => [String(one["token"]), one["logprob"]]));
}

class CompletionsWriter implements EventWriter {
  readonly #exchange: AnswerContext;
  /** The beginning of every chunk, up to its choice. */
  readonly #head: string;
  readonly #echo: string;
  /** The length of each choice's text so far, which is needed for offsets. A choice has an entry once its text has begun. */
  readonly #sent = new Map<number, number>();
  #usage: Usage | undefined;
  #failed = false;

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
    this.#echo = echoOf(exchange);
    this.#head = `data: ${JSON.stringify(head(exchange)).slice(0, -1)},"choices":[`;
  }

  push(event: ChatEvent): string {
    if (this.#failed) return "";
    switch (event.type) {
      case "text-delta": {
        if (event.text === "" && event.logprobs === undefined) return "";
        const opening = this.#open(event.choice);
        const at = this.#sent.get(event.choice) ?? 0;
        this.#sent.set(event.choice, at + event.text.length);
        const logprobs = event.logprobs === undefined ? "null" : JSON.stringify(legacyLogprobs(event.logprobs, at));
        return `${opening}${this.#head}{"index":${event.choice},"text":${JSON.stringify(event.text)},"logprobs":${logprobs},"finish_reason":null}]}\n\n`;
      }
      case "finish": {
        if (event.usage !== undefined) this.#usage = event.usage;
        const reason = FINISH_REASONS[event.reason];
        return `${this.#open(event.choice)}${this.#head}{"index":${event.choice},"text":"","logprobs":null,"finish_reason":"${reason}"}]}\n\n`;
      }
      case "error": {
        const { code, message } = event;
        const type = ERRORS[code].type;
        return this.fail({ message, type, code, param: null, request_id: this.#exchange.requestId });
      }
      default:
        return "";
    }
  }

  end(): string {
    if (this.#failed) return "";
    if (!this.#exchange.request.includeUsage) return "data: [DONE]\n\n";
    return `${this.#head}],"usage":${JSON.stringify(usageMembers(this.#usage))}}\n\ndata: [DONE]\n\n`;
  }

  fail(error: StreamError): string {
    this.#failed = true;
    return `data: ${JSON.stringify({ error })}\n\n`;
  }

  /** The beginning of a choice's text: the prompt, if the request has `echo`. */
  #open(choice: number): string {
    if (this.#echo === "" || this.#sent.has(choice)) return "";
    this.#sent.set(choice, this.#echo.length);
    const text = JSON.stringify(this.#echo);
    return `${this.#head}{"index":${choice},"text":${text},"logprobs":null,"finish_reason":null}]}\n\n`;
  }
}
