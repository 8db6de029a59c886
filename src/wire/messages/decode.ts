// Reads requests of the messages format (docs/reference/http-api.md#post-v1messages).

import { isRecord } from "../../base/json-object.ts";
import { withDirections } from "../../chat/directions.ts";
import type { ChatMessage, ChatRequest, ResponseFormat, ToolChoice } from "../../chat/request.ts";
import * as check from "../check.ts";
import type { DecodeOptions } from "../format.ts";
import { wantsCost } from "../usage-wish.ts";
import { readAssistant, readSystem, readUser } from "./blocks.ts";
import { MessageDirections } from "./directions.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { readTool, toolName } from "./tools.ts";

/** Reads the body of `POST /v1/messages`. */
export function decodeMessages(body: check.Fields, options: DecodeOptions): ChatRequest {
  return withLimit(body, decodeCountTokens(body, options));
}

/** The same, and calls `pause` after each message. */
export async function decodeMessagesInSteps(
  body: check.Fields,
  options: DecodeOptions,
  pause: () => Promise<void> | undefined,
): Promise<ChatRequest> {
  const head = readHead(body);
  const reader = new MessageReader(body, options, head.directions);
  while (reader.next()) {
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  return withLimit(body, withRest(body, head, reader.messages));
}

function withLimit(body: check.Fields, chat: ChatRequest): ChatRequest {
  return { ...chat, maxTokens: check.need(body, "max_tokens", check.expectInteger(0)) };
}

/** Reads the body of `POST /v1/messages/count_tokens`, which is the same without an output limit. */
export function decodeCountTokens(body: check.Fields, options: DecodeOptions): ChatRequest {
  const head = readHead(body);
  const reader = new MessageReader(body, options, head.directions);
  while (reader.next());
  return withRest(body, head, reader.messages);
}

/** What is read before the messages. */
function readHead(body: check.Fields) {
  const choice = check.maybe(body, "tool_choice", check.expectFields);
  const tools = check.maybe(body, "tools", check.expectListOf(readTool)) ?? [];
  const directions = new MessageDirections(tools.map(({ tool }) => toolName(tool)));
  return { choice, tools, directions, model: check.need(body, "model", check.expectText) };
}

function withRest(
  body: check.Fields,
  { choice, tools, directions, model }: ReturnType<typeof readHead>,
  messages: ChatMessage[],
): ChatRequest {
  const chat: ChatRequest = {
    model,
    messages,
    stream: check.maybe(body, "stream", check.expectBoolean) ?? false,
    includeUsage: true,
    tools: [],
    ...check.given({
      toolChoice: choice === undefined ? undefined : readToolChoice(choice, "tool_choice"),
      responseFormat: readFormat(body),
      includeCost: wantsCost(body),
    }),
    ...MESSAGES_FIELDS.read(body),
    extra: check.remaining(body, MESSAGES_FIELDS.known),
  };
  return withDirections(chat, tools, directions);
}

/** Reads the messages one by one. */
class MessageReader {
  readonly messages: ChatMessage[] = [];
  readonly #list: readonly unknown[];
  readonly #options: DecodeOptions;
  readonly #directions: MessageDirections;
  readonly #lastUser: number;
  #at = 0;

  constructor(body: check.Fields, options: DecodeOptions, directions: MessageDirections) {
    const list = check.need(body, "messages", check.expectList);
    // If the upstream holds the conversation, it can be continued without new messages.
    const goesOn = isRecord(body["thread"]) && body["thread"]["type"] === "continue";
    if (list.length === 0 && !goesOn) check.reject("messages", "Invalid 'messages': at least one message is required.");
    const system = body["system"] === undefined || body["system"] === null ? [] : readSystem(body["system"], "system");
    if (system.length > 0) this.messages.push({ role: "system", content: system });
    this.#list = list;
    this.#options = options;
    this.#directions = directions;
    this.#lastUser = list.findLastIndex((message) => isRecord(message) && message["role"] === "user");
  }

  /** Reads the next message. False if there is none. */
  next(): boolean {
    const i = this.#at++;
    if (i >= this.#list.length) return false;
    const path = check.at("messages", i);
    const message = check.expectFields(this.#list[i], path);
    const isPast = i < this.#lastUser;
    this.messages.push(...readMessage(message, path, { options: this.#options, directions: this.#directions, isPast }));
    return true;
  }
}

/** Reads a message. `isPast`: a user's message follows. */
function readMessage(
  message: check.Fields,
  path: string,
  { options, directions, isPast }: { options: DecodeOptions; directions: MessageDirections; isPast: boolean },
): ChatMessage[] {
  const role = check.need(message, "role", check.expectString, path);
  const where = check.at(path, "content");
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
        check.reject(
          check.at(path, "role"),
          "System messages are not allowed in 'messages'; use the top-level 'system' parameter.",
        );
      }
      // A system message may only contain directions, and no text.
      const content = directions.system(message, path, isPast);
      return content.length === 0 ? [] : [{ role, content }];
    }
    default:
      return check.reject(
        check.at(path, "role"),
        `Invalid '${check.at(path, "role")}': expected 'user' or 'assistant', got '${role}'.`,
      );
  }
}

/** From this version of the API on, messages may have the role `system`. */
const SYSTEM_TURNS_SINCE = "2026-10-21";

function takesSystemTurns({ betas = "", version = "" }: DecodeOptions): boolean {
  return betas.trim() !== "" || (/^\d{4}-\d{2}-\d{2}$/.test(version) && version >= SYSTEM_TURNS_SINCE);
}

function readToolChoice(choice: check.Fields, path: string): ToolChoice {
  switch (check.need(choice, "type", check.expectString, path)) {
    case "auto":
      return { type: "auto" };
    case "any":
      return { type: "required" };
    case "none":
      return { type: "none" };
    case "tool":
      return { type: "tool", name: check.need(choice, "name", check.expectText, path) };
    default:
      return check.reject(
        check.at(path, "type"),
        `Invalid '${check.at(path, "type")}': expected 'auto', 'any', 'tool' or 'none'.`,
      );
  }
}

function readFormat(body: check.Fields): ResponseFormat | undefined {
  const config = check.maybe(body, "output_config", check.expectFields) ?? {};
  const own = check.maybe(config, "format", check.expectFields, "output_config");
  // `output_format` is the former name of the parameter.
  const path = own === undefined ? "output_format" : "output_config.format";
  const format = own ?? check.maybe(body, "output_format", check.expectFields);
  if (format === undefined) return undefined;
  if (check.need(format, "type", check.expectString, path) !== "json_schema") {
    check.reject(check.at(path, "type"), `Invalid '${path}.type': expected 'json_schema'.`);
  }
  // The format has no name for a schema, but other protocols require one.
  return {
    type: "json_schema",
    name: "output",
    schema: check.need(format, "schema", check.expectFields, path),
    strict: true,
  };
}
