// Usage and finish reasons in the format of OpenAI's chat completions and of compatible servers.

import { isRecord } from "../../../base/json-object.ts";
import { lookUp } from "../../../base/look-up.ts";
import type { AnswerFault } from "../../../chat/answer-fault.ts";
import type { FinishReason, Usage } from "../../../chat/event.ts";
import type { UsageFormat } from "../../../chat/shown-usage.ts";
import { reportedUsage, tokenCount, tokenSum } from "../../../chat/usage.ts";
import { answerFault } from "../../fault-words.ts";
import { openaiError } from "../openai-error.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The usage objects of a chunk or of an answer, in increasing order of precedence: in the form in which Groq first sent them, in a
 * choice as Moonshot does (platform.moonshot.ai/docs), and in OpenAI's own place.
 */
export function usagesIn({ x_groq: groq, choices, usage }: Json): readonly Json[] {
  const found: Json[] = [];
  if (isRecord(groq) && isRecord(groq["usage"])) found.push(groq["usage"]);
  if (Array.isArray(choices)) {
    for (const choice of choices) if (isRecord(choice) && isRecord(choice["usage"])) found.push(choice["usage"]);
  }
  if (isRecord(usage)) found.push(usage);
  return found;
}

const NO_FIELDS: Json = {};

/**
 * Reads usage as OpenAI, DeepSeek (`prompt_cache_hit_tokens`) and OpenRouter (`cache_write_tokens`) write it; undefined if nothing
 * is reported. `chunk`: the object that it stands in, which names the service tier.
 */
export function openaiUsage(value: unknown, chunk: Json = NO_FIELDS): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const serverTools = isRecord(value["server_tool_use"]) ? value["server_tool_use"] : NO_FIELDS;
  const inputDetails = isRecord(value["prompt_tokens_details"]) ? value["prompt_tokens_details"] : NO_FIELDS;
  const outputDetails = isRecord(value["completion_tokens_details"]) ? value["completion_tokens_details"] : NO_FIELDS;
  const reasoning = outputDetails["reasoning_tokens"];
  return reportedUsage({
    input: value["prompt_tokens"],
    output: isApart(value, reasoning) ? tokenSum(value["completion_tokens"], reasoning) : value["completion_tokens"],
    cached: inputDetails["cached_tokens"] ?? value["prompt_cache_hit_tokens"],
    cacheWrite: inputDetails["cache_write_tokens"],
    reasoning,
    searches: serverTools["web_search_requests"] ?? value["num_search_queries"],
    service: chunk["service_tier"],
  });
}

/** Whether `completion_tokens` excludes the reasoning, as at xAI. The total shows it; without a total, a part that is too large. */
function isApart(value: Json, reasoning: unknown): boolean {
  const output = tokenCount(value["completion_tokens"]);
  const thought = tokenCount(reasoning);
  if (output === undefined || thought === undefined || thought === 0) return false;
  const total = tokenCount(value["total_tokens"]);
  return total ? total === tokenSum(value["prompt_tokens"], output, thought) : thought > output;
}

/** Writes usage in the format of chat completions. */
export function plainChatUsage(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const out: Record<string, unknown> = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  if (cachedTokens !== undefined || cacheWriteTokens !== undefined) {
    out["prompt_tokens_details"] = {
      ...(cachedTokens === undefined ? {} : { cached_tokens: cachedTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cache_write_tokens: cacheWriteTokens }),
    };
  }
  if (reasoningTokens !== undefined) out["completion_tokens_details"] = { reasoning_tokens: reasoningTokens };
  if (usage.costUsd !== undefined) out["cost"] = usage.costUsd;
  return out;
}

/** The format of usage in chat completions. */
export const CHAT_USAGE: UsageFormat = {
  read: (raw) => openaiUsage(raw),
  write: plainChatUsage,
  totals: ["prompt_tokens", "completion_tokens", "total_tokens"],
  inputParts: ["prompt_tokens_details", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens"],
  outputParts: ["completion_tokens_details"],
};

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
