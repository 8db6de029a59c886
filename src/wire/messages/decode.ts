// Reads requests of the messages format (docs/reference/http-api.md#post-v1messages).

import { isRecord } from "../../base/json-object.ts";
import { withDirections } from "../../chat/directions.ts";
import type { ChatMessage, ChatRequest, ResponseFormat, ToolChoice } from "../../chat/request.ts";
import {
  at,
  expectBoolean,
  expectFields,
  expectInteger,
  expectList,
  expectListOf,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
  remaining,
} from "../check.ts";
import type { DecodeOptions } from "../format.ts";
import { readAssistant, readSystem, readUser } from "./blocks.ts";
import { MessageDirections } from "./directions.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { readTool, toolName } from "./tools.ts";

/** Reads the body of `POST /v1/messages`. */
export function decodeMessages(body: Fields, options: DecodeOptions): ChatRequest {
  return { ...decodeCountTokens(body, options), maxTokens: need(body, "max_tokens", expectInteger(0)) };
}

/** Reads the body of `POST /v1/messages/count_tokens`, which is the same without an output limit. */
export function decodeCountTokens(body: Fields, options: DecodeOptions): ChatRequest {
  const choice = maybe(body, "tool_choice", expectFields);
  const tools = maybe(body, "tools", expectListOf(readTool)) ?? [];
  const directions = new MessageDirections(tools.map(({ tool }) => toolName(tool)));
  const chat: ChatRequest = {
    model: need(body, "model", expectText),
    messages: readMessages(body, options, directions),
    stream: maybe(body, "stream", expectBoolean) ?? false,
    includeUsage: true,
    tools: [],
    ...given({
      toolChoice: choice === undefined ? undefined : readToolChoice(choice, "tool_choice"),
      responseFormat: readFormat(body),
    }),
    ...MESSAGES_FIELDS.read(body),
    extra: remaining(body, MESSAGES_FIELDS.known),
  };
  return withDirections(chat, tools, directions);
}

function readMessages(body: Fields, options: DecodeOptions, directions: MessageDirections): ChatMessage[] {
  const list = need(body, "messages", expectList);
  // If the upstream holds the conversation, it can be continued without new messages.
  const goesOn = isRecord(body["thread"]) && body["thread"]["type"] === "continue";
  if (list.length === 0 && !goesOn) reject("messages", "Invalid 'messages': at least one message is required.");
  const messages: ChatMessage[] = [];
  const system = body["system"] === undefined || body["system"] === null ? [] : readSystem(body["system"], "system");
  if (system.length > 0) messages.push({ role: "system", content: system });
  const lastUser = list.findLastIndex((message) => isRecord(message) && message["role"] === "user");
  list.forEach((element, i) => {
    const path = at("messages", i);
    const message = expectFields(element, path);
    messages.push(...readMessage(message, path, { options, directions, isPast: i < lastUser }));
  });
  return messages;
}

/** Reads a message. `isPast`: a user's message follows. */
function readMessage(
  message: Fields,
  path: string,
  { options, directions, isPast }: { options: DecodeOptions; directions: MessageDirections; isPast: boolean },
): ChatMessage[] {
  const role = need(message, "role", expectString, path);
  const where = at(path, "content");
  const value = message["content"];
  switch (role) {
    case "user":
      directions.user(value);
      return readUser(value, where);
    case "assistant": {
      directions.assistant(value, where);
      const content = readAssistant(value, where);
      return content.length === 0 ? [] : [{ role, content }];
    }
    case "system": {
      if (!takesSystemTurns(options)) {
        reject(
          at(path, "role"),
          "System messages are not allowed in 'messages'; use the top-level 'system' parameter.",
        );
      }
      // A system message may only contain directions, and no text.
      const content = directions.system(message, path, isPast);
      return content.length === 0 ? [] : [{ role, content }];
    }
    default:
      return reject(at(path, "role"), `Invalid '${at(path, "role")}': expected 'user' or 'assistant', got '${role}'.`);
  }
}

/** From this version of the API on, messages may have the role `system`. */
const SYSTEM_TURNS_SINCE = "2026-10-21";

function takesSystemTurns({ betas = "", version = "" }: DecodeOptions): boolean {
  return betas.trim() !== "" || (/^\d{4}-\d{2}-\d{2}$/.test(version) && version >= SYSTEM_TURNS_SINCE);
}

function readToolChoice(choice: Fields, path: string): ToolChoice {
  switch (need(choice, "type", expectString, path)) {
    case "auto":
      return { type: "auto" };
    case "any":
      return { type: "required" };
    case "none":
      return { type: "none" };
    case "tool":
      return { type: "tool", name: need(choice, "name", expectText, path) };
    default:
      return reject(at(path, "type"), `Invalid '${at(path, "type")}': expected 'auto', 'any', 'tool' or 'none'.`);
  }
}

function readFormat(body: Fields): ResponseFormat | undefined {
  const config = maybe(body, "output_config", expectFields) ?? {};
  const own = maybe(config, "format", expectFields, "output_config");
  // `output_format` is the former name of the parameter.
  const path = own === undefined ? "output_format" : "output_config.format";
  const format = own ?? maybe(body, "output_format", expectFields);
  if (format === undefined) return undefined;
  if (need(format, "type", expectString, path) !== "json_schema") {
    reject(at(path, "type"), `Invalid '${path}.type': expected 'json_schema'.`);
  }
  // The format has no name for a schema, but other protocols require one.
  return { type: "json_schema", name: "output", schema: need(format, "schema", expectFields, path), strict: true };
}
