// What an HTTP error answer of a provider means, as far as the protocols agree: kind by status, how long to wait, which
// headers the client needs, and the many ways to say that the history does not fit.

import { type FaultKind, UpstreamFault } from "../fault.ts";

/** What a dialect read from the error body. */
export interface FaultDetail {
  message?: string | undefined;
  /** The provider's own error code or type. */
  code?: string | undefined;
  param?: string | null | undefined;
  retryAfterSeconds?: number | undefined;
}

/** An upstream text in an error is cut at this; some answer with whole HTML pages. */
const MESSAGE_CHARS_MAX = 2000;

/** The fault for an HTTP error status. */
export function httpFault(status: number, headers: Headers, detail: FaultDetail): UpstreamFault {
  const message = detail.message?.trim().slice(0, MESSAGE_CHARS_MAX) || `The provider answered with status ${status}.`;
  return new UpstreamFault(kindOf(status, message, detail.code), message, {
    status,
    retryAfterSeconds: retryAfterSeconds(headers) ?? detail.retryAfterSeconds,
    param: detail.param ?? null,
    headers: keptHeaders(headers),
  });
}

function kindOf(status: number, message: string, code: string | undefined): FaultKind {
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 404) return "model_missing";
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return saysContextLength(message, code) ? "context_length" : "unavailable";
  if (saysContextLength(message, code)) return "context_length";
  return status >= 400 ? "bad_request" : "unavailable";
}

const CONTEXT_CODES = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "model_context_window_exceeded",
]);

/**
 * Wordings seen in public: Anthropic "prompt is too long: 210000 tokens > 200000 maximum" and "input length and
 * `max_tokens` exceed context limit"; OpenAI and vLLM "maximum context length is 8192 tokens"; Responses "exceeds the
 * context window of this model"; Gemini "input token count (N) exceeds the maximum number of tokens allowed"; llama.cpp
 * "exceeds the available context size"; xAI "maximum prompt length is"; Groq "reduce the length of the messages";
 * Mistral "too large for model with 32768 maximum context length"; LM Studio "greater than the context length".
 */
const CONTEXT_WORDS =
  /prompt is too long|exceed(?:s|ed)? (?:the )?(?:available |model'?s? |maximum )?context|maximum (?:context|prompt) length|context window of this model|token count.{0,40}exceeds the maximum|reduce the length of (?:the|your) (?:messages|prompt|input)|(?:greater|longer) than the (?:model'?s? )?context|context (?:length|size|window) (?:was |is |has been )?exceeded/i;

/** True when the provider says that the history does not fit the model's window. */
export function saysContextLength(message: string, code?: string): boolean {
  return (code !== undefined && CONTEXT_CODES.has(code)) || CONTEXT_WORDS.test(message);
}

/** `retry-after-ms`, then `retry-after` in seconds or as a date (against the answer's own `date`). */
function retryAfterSeconds(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms / 1000;
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds);
  const wait = Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(wait) ? Math.max(0, wait / 1000) : undefined;
}

function keptHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name === "retry-after" || name.startsWith("anthropic-ratelimit-")) kept[name] = value;
  });
  return kept;
}
