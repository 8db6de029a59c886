// Writes answers of Gemini's API. A stream is a sequence of answers, each with a few more parts; the last one has the reason for the
// end and the usage.

import { ERRORS, type ErrorBody } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import { lazily } from "../../base/lazily.ts";
import type { ChatEvent, FinishReason, ImageEvent } from "../../chat/event.ts";
import { geminiEnvelope, geminiUsageMetadata } from "../../chat/gemini-shapes.ts";
import type { ChatResult, ResultBlock, ResultChoice } from "../../chat/result.ts";
import type { ServerToolKind } from "../../chat/server-tools.ts";
import type { AnswerContext, EventWriter, StreamError } from "../format.ts";
import { type Seals, sealed, sealedCall } from "../seal-envelopes.ts";
import { includesThoughts } from "./fields.ts";
import type { Grounding } from "./grounding.ts";
import { GEMINI_ORIGIN, inBase64, toSignature } from "./seals.ts";

type Json = Record<string, unknown>;

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
  refusal: "SAFETY",
  stop_sequence: "STOP",
  pause: "STOP",
  context_window: "MAX_TOKENS",
  compaction: "STOP",
  unknown: "STOP",
};

/** Loaded with the first answer in which the gateway ran a tool. */
const grounding = lazily(() => {
  const { Grounding }: typeof import("./grounding.ts") = require("./grounding.ts");
  return () => new Grounding();
});

/** Writes a whole answer. */
export function encodeGemini({ choices, usage }: ChatResult, exchange: AnswerContext): Json {
  return {
    candidates: choices.map((choice) => candidateOf(choice, exchange)),
    ...(usage === undefined ? {} : { usageMetadata: geminiUsageMetadata(usage) }),
    ...ending(exchange),
  };
}

function candidateOf(choice: ResultChoice, exchange: AnswerContext): Json {
  const parts = choice.blocks.flatMap((block) => partsOf(block, exchange));
  const logprobs = choice.blocks.flatMap((block) => (block.type === "text" ? (block.logprobs ?? []) : []));
  return {
    content: { parts: parts.length > 0 ? parts : [{ text: "" }], role: "model" },
    finishReason: reasonOf(choice, exchange),
    index: choice.index,
    ...logprobMembers(logprobs),
    ...groundingOf(choice),
  };
}

function groundingOf({ blocks }: ResultChoice): Json {
  if (!blocks.some((block) => block.type === "server-tool" || (block.type === "text" && block.annotations))) return {};
  const found = grounding()();
  let text = "";
  for (const block of blocks) {
    if (block.type === "server-tool") found.addCall(block, block.input);
    else if (block.type === "server-tool-result" && block.call.output !== undefined)
      found.addResult(block.call.output, block.call.input);
    else if (block.type === "text") {
      text += block.text;
      for (const citation of block.citations ?? []) found.addCitation(citation, text);
      found.addNotes(block.annotations, text);
    }
  }
  return found.members();
}

function reasonOf(
  { reason, rawReason }: Pick<ResultChoice, "reason" | "rawReason">,
  { source }: Pick<AnswerContext, "source">,
): string {
  const isOwn = source?.protocol === GEMINI_ORIGIN && rawReason !== undefined && /^[A-Z_]{1,64}$/.test(rawReason);
  return isOwn ? rawReason : REASONS[reason];
}

function partsOf(block: ResultBlock, exchange: AnswerContext): Json[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "reasoning": {
      const text = block.text || (block.summary ?? []).join("\n\n");
      return thoughtParts(text, block, { exchange, isSummary: block.text === "" && text !== "" });
    }
    case "tool-call":
      return [callPart(block, exchange)];
    case "opaque":
      return block.origin === GEMINI_ORIGIN ? [{ ...block.value }] : [];
    case "image":
      return [picturePart(block)];
    case "server-tool":
    case "server-tool-result":
      return [];
  }
}

function picturePart({ source, origin, value }: Pick<ImageEvent, "source" | "origin" | "value">): Json {
  if (origin === GEMINI_ORIGIN) return { ...value };
  return source.kind === "url"
    ? { fileData: { mimeType: "image/png", fileUri: source.url } }
    : { inlineData: { mimeType: source.mediaType, data: source.data } };
}

/** The parts of reasoning. Clients that do not ask for thoughts get the signature alone, as from the provider. */
function thoughtParts(
  text: string,
  seals: Seals,
  { exchange, isSummary }: { exchange: AnswerContext; isSummary: boolean },
): Json[] {
  const shows = text !== "" && includesThoughts(exchange.body);
  const signature = signatureOf(seals, { exchange, isSummary, shows });
  if (!shows && signature === undefined) return [];
  return [
    {
      text: shows ? text : "",
      ...(shows ? { thought: true } : {}),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
  ];
}

function signatureOf(
  seals: Seals,
  { exchange, isSummary, shows }: { exchange: AnswerContext; isSummary: boolean; shows: boolean },
): string | undefined {
  if (seals.origin === GEMINI_ORIGIN && seals.signature !== undefined) return seals.signature;
  // What the client does not see is kept by the calls that follow it.
  if (!shows) return undefined;
  const carried = sealed(seals, { summary: isSummary, text: false, source: exchange.source });
  return carried === undefined ? undefined : toSignature(carried);
}

interface Call {
  readonly callId: string;
  readonly name: string;
  readonly kind: "function" | "custom";
  readonly arguments: string;
  readonly signature?: string;
  readonly origin?: string;
}

/** A call that is being streamed. */
interface OpenCall extends Call {
  readonly choice: number;
  arguments: string;
  hasEnded: boolean;
}

function callPart(call: Call, { source }: AnswerContext): Json {
  const { callId, name, kind, arguments: text, signature, origin = GEMINI_ORIGIN } = call;
  // The arguments of a finished call are valid JSON; those of a call without arguments are an empty text.
  const given: unknown = kind === "custom" ? { input: text } : text.trim() === "" ? {} : JSON.parse(text);
  const args = isRecord(given) ? given : { input: given };
  const envelope = origin === GEMINI_ORIGIN ? undefined : sealedCall(call, source);
  const seal = envelope === undefined ? signature : inBase64(envelope);
  return { functionCall: { id: callId, name, args }, ...(seal === undefined ? {} : { thoughtSignature: seal }) };
}

function ending({ model, id }: AnswerContext): Json {
  return { modelVersion: model, responseId: id };
}

/** Log probabilities in the protocol's form, from that of chat completions. */
function logprobMembers(logprobs: readonly unknown[]): Json {
  if (logprobs.length === 0) return {};
  const tokens = logprobs.filter(isRecord);
  const of = (one: Readonly<Record<string, unknown>>) => ({ token: one["token"], logProbability: one["logprob"] });
  const sum = tokens.reduce((total, one) => total + Number(one["logprob"] ?? 0), 0);
  return {
    avgLogprobs: tokens.length === 0 ? 0 : sum / tokens.length,
    logprobsResult: {
      topCandidates: tokens.map((one) => {
        const top = one["top_logprobs"];
        return { candidates: (Array.isArray(top) ? top : []).filter(isRecord).map(of) };
      }),
      chosenCandidates: tokens.map(of),
    },
  };
}

/** Writes a streamed answer. A call of a function is one part, once it is complete. */
export class GeminiWriter implements EventWriter {
  readonly #exchange: AnswerContext;
  readonly #tail: string;
  readonly #shows: boolean;
  /** Whether the request names a tool that is not a function. */
  readonly #keepsText: boolean;
  /** The calls that are not complete, by the ids of their blocks. */
  readonly #open = new Map<string, OpenCall>();
  /** What each choice rests on, and the calls behind it; undefined for most answers. */
  #grounded:
    | Map<number, { found: Grounding; calls: Map<string, { kind: ServerToolKind; input: Readonly<Json> }> }>
    | undefined;
  /** The texts of each choice so far, in whose bytes citations are counted. */
  readonly #texts = new Map<number, string>();
  /** The reasoning blocks that are not complete: whether their text is a summary, and whether there is any. */
  readonly #thoughts = new Map<string, { isSummary: boolean; hasText: boolean; itemId: string | undefined }>();

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
    this.#shows = includesThoughts(exchange.body);
    const { tools } = exchange.body;
    const isServer = (tool: unknown) =>
      isRecord(tool) && Object.keys(tool).some((name) => name !== "functionDeclarations");
    this.#keepsText = Array.isArray(tools) && tools.some(isServer);
    this.#tail = `,${JSON.stringify(ending(exchange)).slice(1)}\n\n`;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case "text-delta":
        if (event.text === "" && event.logprobs === undefined) return "";
        return this.#text(event);
      case "text-end":
        if (event.annotations !== undefined) this.#cited(event.choice, event.annotations);
        return "";
      case "reasoning-start":
        this.#thoughts.set(event.id, { isSummary: false, hasText: false, itemId: event.itemId });
        return "";
      case "reasoning-delta":
        return this.#thought(event);
      case "reasoning-end":
        return this.#thoughtEnded(event);
      case "tool-start": {
        const { id, type: _type, ...call } = event;
        this.#open.set(id, { ...call, arguments: "", hasEnded: false });
        return "";
      }
      case "tool-delta": {
        const call = this.#open.get(event.id);
        if (call !== undefined) call.arguments += event.text;
        return "";
      }
      case "tool-end":
        return this.#callEnded(event.id);
      case "opaque":
        return event.origin === GEMINI_ORIGIN ? this.#part(event.choice, event.value) : "";
      case "image":
        return this.#part(event.choice, picturePart(event));
      case "server-tool-start":
        this.#rests(event.choice).calls.set(event.id, { kind: event.kind, input: {} });
        return "";
      case "server-tool-end": {
        const grounded = this.#grounded?.get(event.choice);
        const call = grounded?.calls.get(event.id);
        if (call === undefined) return "";
        call.input = event.input;
        grounded?.found.addCall(call, event.input);
        return "";
      }
      case "server-tool-result": {
        const grounded = this.#grounded?.get(event.choice);
        grounded?.found.addResult(event.output, grounded.calls.get(event.id)?.input ?? {});
        return "";
      }
      case "citation":
        this.#grounded?.get(event.choice)?.found.addCitation(event.citation, this.#texts.get(event.choice) ?? "");
        return "";
      case "finish":
        return this.#finish(event);
      case "error":
        return this.fail({
          ...event,
          type: ERRORS[event.code].type,
          param: null,
          request_id: this.#exchange.requestId,
        });
      default:
        return "";
    }
  }

  end(): string {
    return "";
  }

  fail({ request_id: requestId, ...error }: StreamError): string {
    return `data: ${JSON.stringify(geminiEnvelope(error as ErrorBody, requestId))}\n\n`;
  }

  /** Writes the calls that are complete, in the order in which they began. */
  #callEnded(id: string): string {
    const ended = this.#open.get(id);
    if (ended !== undefined) ended.hasEnded = true;
    let out = "";
    for (const [first, call] of this.#open) {
      if (!call.hasEnded) break;
      this.#open.delete(first);
      out += this.#part(call.choice, callPart(call, this.#exchange));
    }
    return out;
  }

  #text({ choice, text, logprobs }: Extract<ChatEvent, { type: "text-delta" }>): string {
    if (this.#keepsText) this.#texts.set(choice, (this.#texts.get(choice) ?? "") + text);
    const more = logprobs === undefined ? "" : `,${JSON.stringify(logprobMembers(logprobs)).slice(1, -1)}`;
    return this.#chunk(`{"text":${JSON.stringify(text)}}`, `"index":${choice}${more}`);
  }

  /** What the provider's own search found, and whose places in the text only requests with such tools say. */
  #cited(choice: number, annotations: readonly unknown[]): void {
    this.#rests(choice).found.addNotes(annotations, this.#keepsText ? (this.#texts.get(choice) ?? "") : undefined);
  }

  #rests(choice: number) {
    this.#grounded ??= new Map();
    let grounded = this.#grounded.get(choice);
    if (grounded === undefined) {
      grounded = { found: grounding()(), calls: new Map() };
      this.#grounded.set(choice, grounded);
    }
    return grounded;
  }

  #thought({ choice, id, text, summaryIndex }: Extract<ChatEvent, { type: "reasoning-delta" }>): string {
    const block = this.#thoughts.get(id);
    if (text === "" || block === undefined) return "";
    // Parts of a summary are paragraphs.
    const isNext = summaryIndex !== undefined && block.hasText && summaryIndex > (block.isSummary ? this.#summary : 0);
    if (summaryIndex !== undefined) this.#summary = summaryIndex;
    block.hasText = true;
    block.isSummary = summaryIndex !== undefined;
    return this.#shows ? this.#part(choice, { text: isNext ? `\n\n${text}` : text, thought: true }) : "";
  }
  #summary = 0;

  #thoughtEnded({ choice, id, ...seals }: Extract<ChatEvent, { type: "reasoning-end" }>): string {
    const block = this.#thoughts.get(id);
    this.#thoughts.delete(id);
    this.#summary = 0;
    const shows = this.#shows && block?.hasText === true;
    const { itemId, isSummary = false } = block ?? {};
    const all: Seals = { ...seals, ...(itemId === undefined ? {} : { itemId }) };
    const signature = signatureOf(all, { exchange: this.#exchange, isSummary, shows });
    if (signature === undefined) return "";
    return this.#part(choice, { text: "", ...(shows ? { thought: true } : {}), thoughtSignature: signature });
  }

  #finish({ choice, usage, ...end }: Extract<ChatEvent, { type: "finish" }>): string {
    const reason = JSON.stringify(reasonOf(end, this.#exchange));
    const used = usage === undefined ? "" : `,"usageMetadata":${JSON.stringify(geminiUsageMetadata(usage))}`;
    const grounded = this.#grounded?.get(choice);
    const found = grounded === undefined ? "" : JSON.stringify(grounded.found.members()).slice(1, -1);
    const members = `"finishReason":${reason},"index":${choice}${found === "" ? "" : `,${found}`}`;
    return this.#chunk('{"text":""}', members, used);
  }

  #part(choice: number, part: Json | Readonly<Json>): string {
    return this.#chunk(JSON.stringify(part), `"index":${choice}`);
  }

  #chunk(part: string, members: string, more = ""): string {
    return `data: {"candidates":[{"content":{"parts":[${part}],"role":"model"},${members}}]${more}${this.#tail}`;
  }
}
