// Reads the sizes in a provider's message about a prompt that does not fit: the prompt's length and the limit.

import type { ErrorWords } from "../chat/answer-fault.ts";

/** The sizes in a message, either of which may be missing. */
export interface ContextCounts {
  /** The maximum size of a prompt. */
  limit?: number;
  /** The size of the prompt. */
  requested?: number;
}

const NUMBER = String.raw`(\d[\d,]{0,12})`;

/** Patterns for OpenAI and vLLM, Anthropic, Google, xAI, Mistral and llama.cpp, and for common wordings. */
const LIMITS = [
  `maximum (?:context|prompt) length (?:is|of)\\s*${NUMBER}`,
  `>\\s*${NUMBER}`,
  `maximum number of tokens allowed \\(\\s*${NUMBER}`,
  `model with ${NUMBER} maximum context`,
  `context (?:size|window|length|limit)[^\\d.]{0,40}${NUMBER}`,
  `(?:at most|up to|no more than|maximum of)\\s*${NUMBER} tokens`,
].map((source) => new RegExp(source, "i"));

const REQUESTED = [
  `you requested\\s*${NUMBER}`,
  `resulted in\\s*${NUMBER}`,
  `prompt is too long:\\s*${NUMBER}`,
  `input token count \\(?\\s*${NUMBER}`,
  `request contains\\s*${NUMBER}`,
  `prompt contains\\s*${NUMBER}`,
  `request \\(\\s*${NUMBER} tokens?\\)`,
  `${NUMBER} tokens? >`,
  `(?:has|have|with|got|are|is)\\s*${NUMBER} (?:input )?tokens`,
].map((source) => new RegExp(source, "i"));

/** Matches `input length and max_tokens exceed context limit: 190000 + 20000 > 200000`. */
const SUM = new RegExp(`${NUMBER}\\s*\\+\\s*${NUMBER}\\s*>\\s*${NUMBER}`);

/** The sizes that a provider states in its error, in fields or in its text; none if the text is ambiguous. */
export function contextCounts({ message, said }: { message: string; said?: ErrorWords }): ContextCounts {
  return { ...countsInText(message), ...said?.sizes };
}

/** The fields in which llama.cpp states the sizes. */
export function statedSizes(error: Readonly<Record<string, unknown>>): Pick<ErrorWords, "sizes"> {
  const { n_prompt_tokens: requested, n_ctx: limit } = error;
  const sizes = { ...(isSize(requested) ? { requested } : {}), ...(isSize(limit) ? { limit } : {}) };
  return Object.keys(sizes).length === 0 ? {} : { sizes };
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= LEAST && Number(value) <= MOST;
}

function countsInText(message: string): ContextCounts {
  const text = message.slice(0, 2000);
  const sum = SUM.exec(text);
  if (sum !== null) return { limit: figure(sum[3]), requested: figure(sum[1]) + figure(sum[2]) };
  const limit = first(LIMITS, text);
  const requested = first(REQUESTED, text);
  if (limit !== undefined && requested !== undefined && requested <= limit) return { limit };
  return { ...(limit === undefined ? {} : { limit }), ...(requested === undefined ? {} : { requested }) };
}

/** Sizes outside of these bounds are ignored, as no model has such a context. */
const LEAST = 64;
const MOST = 1e9;

function first(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    const value = found === undefined ? 0 : figure(found);
    if (value >= LEAST && value <= MOST) return value;
  }
  return undefined;
}

function figure(text = ""): number {
  return Number(text.replaceAll(",", ""));
}
