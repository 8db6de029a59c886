// The members of the request that a response object repeats: all that Open Responses requires, with the effective values where
// the request had none.

import { isRecord } from "../../base/json-object.ts";
import type { AnswerContext } from "../format.ts";
import { conversationIdOf } from "./conversation.ts";

/** The members of the response object that depend on the request. */
export function requestEcho({ body, request, defaultTemperature }: AnswerContext): Record<string, unknown> {
  const text = isRecord(body["text"]) ? body["text"] : {};
  const conversation = conversationIdOf(body);
  return {
    background: body["background"] ?? false,
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
    frequency_penalty: request.frequencyPenalty ?? 0,
    instructions: body["instructions"] ?? null,
    max_output_tokens: request.maxTokens ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: request.parallelToolCalls ?? true,
    presence_penalty: request.presencePenalty ?? 0,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: body["service_tier"] ?? "auto",
    store: request.store ?? true,
    temperature: request.temperature ?? defaultTemperature ?? 1,
    text: { format: { type: "text" }, ...text },
    tool_choice: flat(body["tool_choice"] ?? "auto"),
    tools: (Array.isArray(body["tools"]) ? body["tools"] : []).map(toolEcho),
    top_logprobs: request.topLogprobs ?? 0,
    top_p: request.topP ?? 1,
    truncation: body["truncation"] ?? "disabled",
    user: request.user ?? null,
  };
}

/** A tool as it was sent. A function is in the flat form, with the members that it always has in a response. */
function toolEcho(value: unknown): unknown {
  const tool = flat(value);
  if (!isRecord(tool) || tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

/** Flattens the nested form of chat completions (`{type, function:{name,…}}`). Everything else is unchanged. */
function flat(value: unknown): unknown {
  if (!isRecord(value)) return value;
  for (const key of ["function", "custom", "allowed_tools"]) {
    const { [key]: inner, ...rest } = value;
    if (value["type"] === key && isRecord(inner)) return { ...rest, ...inner };
  }
  return value;
}
