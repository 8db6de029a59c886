// Reads requests of the responses format (docs/reference/http-api.md#post-v1responses).

import { withDirections } from "../../chat/directions.ts";
import type { ChatMessage, ChatRequest, ReasoningOptions } from "../../chat/request.ts";
import {
  expectBoolean,
  expectFields,
  expectInteger,
  expectListOf,
  expectNumber,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
  remaining,
} from "../check.ts";
import { conversationIdOf } from "./conversation.ts";
import { readInput } from "./items.ts";
import { readTextOptions } from "./text-options.ts";
import { readToolChoice, readTools } from "./tools.ts";

/** The top-level members that are read; all others become `extra`. */
const KNOWN: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "presence_penalty",
  "frequency_penalty",
  "stream",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "metadata",
  "user",
  "store",
  "service_tier",
  "include",
  "background",
  "stream_options",
  // This member is resolved before an upstream is called.
  "previous_response_id",
  "conversation",
  "thread_id",
  "conversation_id",
]);

/** The entry of `include` that requests log probabilities. */
const LOGPROBS = "message.output_text.logprobs";

/** Reads the body of `POST /v1/responses`. */
export function decodeResponses(body: Fields): ChatRequest {
  const previous = maybe(body, "previous_response_id", expectText);
  // The input may be absent if the conversation or prompt is stored elsewhere.
  const isElsewhere = (body["prompt"] ?? conversationIdOf(body) ?? null) !== null;
  const input = readInput(isElsewhere ? (body["input"] ?? []) : need(body, "input", (value) => value), "input");
  if (Array.isArray(body["input"]) && body["input"].length === 0 && previous === undefined && !isElsewhere) {
    reject("input", "Invalid 'input': at least one input item is required.");
  }
  const messages: ChatMessage[] = input.messages;
  const instructions = maybe(body, "instructions", expectString);
  if (instructions !== undefined && instructions !== "") {
    messages.unshift({ role: "system", content: [{ type: "text", text: instructions }] });
  }
  const include = maybe(body, "include", expectListOf(expectString)) ?? [];
  const topLogprobs = maybe(body, "top_logprobs", expectInteger(0, 20));
  const choice = body["tool_choice"] ?? undefined;
  const toolChoice = choice === undefined ? undefined : readToolChoice(choice, "tool_choice");
  const extra = remaining(body, KNOWN);
  if (include.some((entry) => entry !== LOGPROBS)) extra["include"] = include;
  // The choice of a tool that the provider runs has no neutral form.
  if (choice !== undefined && toolChoice === undefined) extra["tool_choice"] = choice;
  const chat: ChatRequest = {
    model: need(body, "model", expectText),
    messages,
    stream: maybe(body, "stream", expectBoolean) ?? false,
    includeUsage: true,
    tools: [],
    ...given({
      toolChoice,
      parallelToolCalls: maybe(body, "parallel_tool_calls", expectBoolean),
      maxTokens: maybe(body, "max_output_tokens", expectInteger(1)),
      temperature: maybe(body, "temperature", expectNumber(0, 2)),
      topP: maybe(body, "top_p", expectNumber(0, 1)),
      presencePenalty: maybe(body, "presence_penalty", expectNumber(-2, 2)),
      frequencyPenalty: maybe(body, "frequency_penalty", expectNumber(-2, 2)),
      logprobs: include.includes(LOGPROBS) || (topLogprobs ?? 0) > 0 ? true : undefined,
      topLogprobs,
      ...readTextOptions(body),
      reasoning: readReasoning(body),
      user: maybe(body, "user", expectString),
      metadata: maybe(body, "metadata", expectFields),
      store: maybe(body, "store", expectBoolean),
      serviceTier: maybe(body, "service_tier", expectString),
      threadId: maybe(body, "thread_id", expectString) ?? maybe(body, "conversation_id", expectString),
    }),
    extra,
  };
  return withDirections(chat, maybe(body, "tools", readTools) ?? [], input.directions);
}

function readReasoning(body: Fields): ReasoningOptions | undefined {
  const reasoning = maybe(body, "reasoning", expectFields);
  if (reasoning === undefined) return undefined;
  const options: ReasoningOptions = given({
    effort: maybe(reasoning, "effort", expectString, "reasoning"),
    summary:
      maybe(reasoning, "summary", expectString, "reasoning") ??
      maybe(reasoning, "generate_summary", expectString, "reasoning"),
  });
  return Object.keys(options).length === 0 ? undefined : options;
}
