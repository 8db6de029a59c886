// Reads requests of the responses format (docs/reference/http-api.md#post-v1responses).

import { withDirections } from "../../chat/directions.ts";
import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import {
  expectBoolean,
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
import { INCLUDE_LOGPROBS, includeOf, RESPONSES_FIELDS } from "./fields.ts";
import { readInput } from "./items.ts";
import { readTextFormat } from "./text-options.ts";
import { readToolChoice, readTools } from "./tools.ts";

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
  const include = includeOf(body);
  const choice = body["tool_choice"] ?? undefined;
  const toolChoice = choice === undefined ? undefined : readToolChoice(choice, "tool_choice");
  const extra = remaining(body, RESPONSES_FIELDS.known);
  if (include.some((entry) => entry !== INCLUDE_LOGPROBS)) extra["include"] = include;
  // The choice of a tool that the provider runs has no neutral form.
  if (choice !== undefined && toolChoice === undefined) extra["tool_choice"] = choice;
  const chat: ChatRequest = {
    model: need(body, "model", expectText),
    messages,
    stream: maybe(body, "stream", expectBoolean) ?? false,
    includeUsage: true,
    tools: [],
    ...given({ toolChoice, responseFormat: readTextFormat(body) }),
    ...RESPONSES_FIELDS.read(body),
    extra,
  };
  return withDirections(chat, maybe(body, "tools", readTools) ?? [], input.directions);
}
