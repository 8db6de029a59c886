// Usage and finish reasons in the format of OpenAI's chat completions and of compatible servers.

import { lookUp } from "../../../base/look-up.ts";
import type { AnswerFault } from "../../../chat/answer-fault.ts";
import type { FinishReason, Usage } from "../../../chat/event.ts";
import { reportedUsage, tokenCount, tokenSum } from "../../../chat/usage.ts";
import { answerFault } from "../../fault-words.ts";
import { openaiError } from "../openai-error.ts";

type Json = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads usage as OpenAI, DeepSeek (`prompt_cache_hit_tokens`) and OpenRouter (`cache_write_tokens`) write it; undefined if it is
 * invalid.
 */
export function openaiUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const inputDetails = isObject(value["prompt_tokens_details"]) ? value["prompt_tokens_details"] : {};
  const outputDetails = isObject(value["completion_tokens_details"]) ? value["completion_tokens_details"] : {};
  const reasoning = outputDetails["reasoning_tokens"];
  return reportedUsage({
    input: value["prompt_tokens"],
    output: isApart(value, reasoning) ? tokenSum(value["completion_tokens"], reasoning) : value["completion_tokens"],
    cached: inputDetails["cached_tokens"] ?? value["prompt_cache_hit_tokens"],
    cacheWrite: inputDetails["cache_write_tokens"],
    reasoning,
  });
}

/** Whether `completion_tokens` excludes the reasoning, as at xAI, which the total shows. */
function isApart(value: Json, reasoning: unknown): boolean {
  const output = tokenCount(value["completion_tokens"]);
  const thought = tokenCount(reasoning);
  if (output === undefined || thought === undefined || thought === 0) return false;
  const sum = tokenSum(value["prompt_tokens"], output, thought);
  return thought > output || (sum !== undefined && sum === value["total_tokens"]);
}

/** Writes usage in the format of chat completions. */
export function plainChatUsage(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  // The word of Mistral and vLLM.
  model_length: "length",
  eos: "stop",
};

/** The neutral finish reason. An answer with tool calls has `tool_calls`, whatever the upstream said, unless it was cut off. */
export function openaiFinish(raw: string, calledTools: boolean): FinishReason {
  const reason = lookUp(REASONS, raw) ?? "unknown";
  return calledTools && (reason === "stop" || reason === "unknown") ? "tool_calls" : reason;
}

/**
 * The error for a finish reason that means a failure: `error` of OpenRouter and Mistral, DeepSeek's lack of resources, and
 * malformed calls of Gemini models, as Google's compatible endpoint names them.
 */
export function failedEnd(reason: string, error: unknown): AnswerFault | undefined {
  if (reason === "error") return answerFault(openaiError(error));
  if (reason === "insufficient_system_resource") {
    return { code: "provider_unavailable", message: "The provider ran out of resources." };
  }
  if (reason.endsWith("MALFORMED_FUNCTION_CALL")) {
    return { code: "tool_arguments_invalid", message: "The model's tool call is malformed." };
  }
  return undefined;
}
