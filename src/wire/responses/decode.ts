// Reads requests of the responses format (docs/reference/http-api.md#post-v1responses).

import { withDirections } from "../../chat/directions.ts";
import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import * as check from "../check.ts";
import { wantsCost } from "../usage-wish.ts";
import { conversationIdOf } from "./conversation.ts";
import { INCLUDE_LOGPROBS, includeOf, RESPONSES_FIELDS } from "./fields.ts";
import { readInput } from "./items.ts";
import { readTextFormat } from "./text-options.ts";
import { readToolChoice, readTools } from "./tools.ts";

/** Reads the body of `POST /v1/responses`. */
export function decodeResponses(body: check.Fields): ChatRequest {
  const previous = check.maybe(body, "previous_response_id", check.expectText);
  // The input may be absent if the conversation or prompt is stored elsewhere.
  const isElsewhere = (body["prompt"] ?? conversationIdOf(body) ?? null) !== null;
  const input = readInput(isElsewhere ? (body["input"] ?? []) : check.need(body, "input", (value) => value), "input");
  if (Array.isArray(body["input"]) && body["input"].length === 0 && previous === undefined && !isElsewhere) {
    check.reject("input", "Invalid 'input': at least one input item is required.");
  }
  const messages: ChatMessage[] = input.messages;
  const instructions = check.maybe(body, "instructions", check.expectString);
  if (instructions !== undefined && instructions !== "") {
    messages.unshift({ role: "system", content: [{ type: "text", text: instructions }] });
  }
  const include = includeOf(body);
  const choice = body["tool_choice"] ?? undefined;
  const toolChoice = choice === undefined ? undefined : readToolChoice(choice, "tool_choice");
  const extra = check.remaining(body, RESPONSES_FIELDS.known);
  if (include.some((entry) => entry !== INCLUDE_LOGPROBS)) extra["include"] = include;
  // The choice of a tool that the provider runs has no neutral form.
  if (choice !== undefined && toolChoice === undefined) extra["tool_choice"] = choice;
  const chat: ChatRequest = {
    model: check.need(body, "model", check.expectText),
    messages,
    stream: check.maybe(body, "stream", check.expectBoolean) ?? false,
    includeUsage: true,
    tools: [],
    ...check.given({ toolChoice, responseFormat: readTextFormat(body), includeCost: wantsCost(body) }),
    ...RESPONSES_FIELDS.read(body),
    extra,
  };
  return withDirections(chat, check.maybe(body, "tools", readTools) ?? [], input.directions);
}
