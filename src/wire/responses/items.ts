// Reads input items of the responses format into neutral turns. Unknown kinds of items become opaque parts, so that an upstream
// of the same protocol gets them.

import { isRecord } from "../../base/json-object.ts";
import type { Directions } from "../../chat/directions.ts";
import type {
  AssistantContent,
  ChatMessage,
  FilePart,
  ImagePart,
  MediaSource,
  OpaquePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import * as check from "../check.ts";
import { readBreakpoint, readDataUrl, typedPart, typedResult } from "../media-parts.ts";
import { type CarriedPart, callSeal, fromCarried, uncarry } from "../seal-envelopes.ts";
import { responseOfItem } from "./references.ts";
import { readTextOptions } from "./text-options.ts";
import { RESPONSES_ORIGIN, readTools } from "./tools.ts";

/** The content of the input: the turns, and what it directs (`additional_tools`, `configuration_update`). */
export interface Input {
  messages: ChatMessage[];
  directions: Directions;
}

/** Reads the input: a string is one user message, an array contains items. */
export function readInput(value: unknown, path: string): Input {
  if (typeof value === "string") {
    return { messages: [{ role: "user", content: [{ type: "text", text: value }] }], directions: { changes: [] } };
  }
  if (value !== undefined && !Array.isArray(value)) {
    check.reject(path, `Invalid '${path}': expected a string or an array of input items.`);
  }
  const turns = new Turns();
  check.expectList(value, path).forEach((element, i) => {
    readItem(check.expectFields(element, check.at(path, i)), check.at(path, i), turns);
  });
  return { messages: turns.messages, directions: turns.directions };
}

/**
 * Groups items into turns. The items of one answer (reasoning, text, calls) become one assistant turn, and results become another
 * turn.
 */
class Turns {
  readonly messages: ChatMessage[] = [];
  readonly directions: Directions = { changes: [] };
  /** The signatures of tool calls, which come before the calls. */
  readonly signatures = new Map<string, CarriedPart>();

  assistant(parts: AssistantContent[]): void {
    const last = this.messages.at(-1);
    // Two consecutive messages stay separate turns, since their texts are separate.
    const apart = parts.some(isSaid) && last?.role === "assistant" && last.content.some(isSaid);
    if (last?.role === "assistant" && !apart) last.content.push(...parts);
    else this.messages.push({ role: "assistant", content: parts });
  }

  /** Declares tools within the input. `loads`: also deferred ones are offered. */
  declare(tools: unknown, path: string, loads = false): void {
    for (const declared of readTools(tools, check.at(path, "tools"))) {
      const own = loads ? { ...declared, deferred: false } : declared;
      this.directions.changes.push({ type: "define", declared: own });
    }
  }

  result(part: ToolResultPart): void {
    const last = this.messages.at(-1);
    if (last?.role === "tool") last.content.push(part);
    else this.messages.push({ role: "tool", content: [part] });
  }
}

function isSaid(part: AssistantContent): boolean {
  return part.type === "text" || part.type === "refusal";
}

function readItem(item: check.Fields, path: string, turns: Turns): void {
  const type =
    item["type"] ?? (item["role"] === undefined && typeof item["id"] === "string" ? "item_reference" : "message");
  switch (check.expectText(type, check.at(path, "type"))) {
    case "message":
      readMessage(item, path, turns);
      break;
    case "function_call":
    case "custom_tool_call":
      turns.assistant([readCall(item, path, turns)]);
      break;
    case "function_call_output":
      if ((item["call_id"] ?? undefined) === undefined) {
        turns.messages.push({ role: "user", content: readUncalled(item, path) });
        break;
      }
      turns.result(readResult(item, path));
      break;
    case "custom_tool_call_output":
      turns.result(readResult(item, path));
      break;
    case "reasoning":
      readReasoning(item, path, turns);
      break;
    case "additional_tools":
      turns.declare(item["tools"], path);
      break;
    case "configuration_update":
      readUpdate(item, path, turns.directions);
      break;
    case "tool_search_output":
      // Tools that a search found can be called from here on.
      if (Array.isArray(item["tools"])) turns.declare(item["tools"], path, true);
      turns.assistant([opaque(item)]);
      break;
    default:
      readOther(item, String(type), turns);
  }
}

/** Reads new settings, each of which is in force until the next one. */
function readUpdate(item: check.Fields, path: string, directions: Directions): void {
  const reasoning = check.maybe(item, "reasoning", check.expectFields, path) ?? {};
  directions.effort =
    check.maybe(reasoning, "effort", check.expectString, check.at(path, "reasoning")) ?? directions.effort;
  const { verbosity, responseFormat } = readTextOptions(item, path);
  directions.verbosity = verbosity ?? directions.verbosity;
  directions.responseFormat = responseFormat ?? directions.responseFormat;
}

/**
 * Reads an item of another type. Items that clients add (outputs, approvals) belong to the user; items that models create belong
 * to the assistant.
 */
function readOther(item: check.Fields, type: string, turns: Turns): void {
  const data = type === "image_generation_call" && isMade(item) ? item["result"] : undefined;
  if (typeof data === "string") {
    const { output_format: format = "png" } = item;
    turns.assistant([{ type: "image", source: { kind: "base64", mediaType: `image/${String(format)}`, data } }]);
    return;
  }
  const part: OpaquePart = { type: "opaque", origin: RESPONSES_ORIGIN, value: item };
  if (type.endsWith("_output") || type.endsWith("_response")) turns.messages.push({ role: "user", content: [part] });
  else turns.assistant([part]);
}

/** Whether the gateway created the item, from an answer in another protocol. Providers do not know it. */
function isMade({ id }: check.Fields): boolean {
  return typeof id === "string" && responseOfItem(id) !== undefined;
}

function readMessage(item: check.Fields, path: string, turns: Turns): void {
  const role = check.need(item, "role", check.expectOneOf("user", "assistant", "system", "developer"), path);
  const content = item["content"];
  const where = check.at(path, "content");
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
    check.reject(where, `Invalid '${where}': expected a string or an array of content parts.`);
  }
  if (role === "assistant") {
    const parts = readParts(content, where, readAssistantPart);
    if (parts.length > 0) turns.assistant(parts);
  } else if (role === "user") {
    turns.messages.push({ role, content: readParts(content, where, readUserPart) });
  } else {
    turns.messages.push({ role: "system", content: readParts(content, where, readSystemPart) });
  }
}

function readParts<T>(value: unknown, path: string, read: (part: check.Fields, path: string) => T): (T | TextPart)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return check.expectList(value, path).map((element, i) => {
    const part = check.expectFields(element, check.at(path, i));
    check.need(part, "type", check.expectText, check.at(path, i));
    return read(part, check.at(path, i));
  });
}

function readSystemPart(part: check.Fields, path: string): TextPart | OpaquePart {
  return isText(part) ? readText(part, path) : opaque(part);
}

function readUserPart(part: check.Fields, path: string): UserContent {
  return typedPart(readNamedPart(part, path));
}

/** Reads a part as its name says. */
function readNamedPart(part: check.Fields, path: string): UserContent {
  if (isText(part)) return readText(part, path);
  switch (part["type"]) {
    case "input_image":
    case "image_url":
      return readImage(part, path);
    case "input_file":
      return readFile(part, path);
    case "input_audio": {
      const audio = check.need(part, "input_audio", check.expectFields, path);
      const where = check.at(path, "input_audio");
      return {
        type: "audio",
        data: check.need(audio, "data", check.expectText, where),
        format: check.need(audio, "format", check.expectText, where),
      };
    }
    default:
      return opaque(part);
  }
}

function readAssistantPart(part: check.Fields, path: string): AssistantContent {
  if (isText(part)) return readText(part, path);
  if (part["type"] === "refusal")
    return { type: "refusal", text: check.need(part, "refusal", check.expectString, path) };
  return part["type"] === "input_image" ? readImage(part, path) : opaque(part);
}

function isText(part: check.Fields): boolean {
  return part["type"] === "input_text" || part["type"] === "output_text" || part["type"] === "text";
}

function readText(part: check.Fields, path: string): TextPart {
  const annotations = part["annotations"];
  return {
    type: "text",
    text: check.need(part, "text", check.expectString, path),
    ...(Array.isArray(annotations) && annotations.length > 0 ? { annotations } : {}),
    ...cache(part, path),
  };
}

function cache(part: check.Fields, path: string): { cacheControl?: check.Fields } {
  return check.given({ cacheControl: readBreakpoint(part, path) });
}

/** Reads an image. `image_url` is a string, or an object as in chat completions. */
function readImage(part: check.Fields, path: string): ImagePart {
  const where = check.at(path, "image_url");
  const fileId = check.maybe(part, "file_id", check.expectText, path);
  const nested = isRecord(part["image_url"]) ? part["image_url"] : undefined;
  const detail =
    check.maybe(part, "detail", check.expectString, path) ??
    (nested && check.maybe(nested, "detail", check.expectString, where));
  const source: MediaSource =
    fileId === undefined
      ? readUrl(
          nested
            ? check.need(nested, "url", check.expectText, where)
            : check.need(part, "image_url", check.expectText, path),
        )
      : { kind: "file", fileId };
  return { type: "image", source, ...check.given({ detail }), ...cache(part, path) };
}

/** Reads a URL. A data URL becomes its bytes; `file-…` instead of a URL is the id of an uploaded file. */
function readUrl(url: string): MediaSource {
  if (url.startsWith("file-")) return { kind: "file", fileId: url };
  return readDataUrl(url) ?? { kind: "url", url };
}

function readFile(part: check.Fields, path: string): FilePart {
  const filename = check.maybe(part, "filename", check.expectString, path);
  const fileId = check.maybe(part, "file_id", check.expectText, path);
  const url = check.maybe(part, "file_url", check.expectText, path);
  let source: FilePart["source"];
  if (fileId !== undefined) source = { kind: "file", fileId };
  else if (url !== undefined) source = readUrl(url);
  else {
    const data = check.need(part, "file_data", check.expectText, path);
    source = readDataUrl(data) ?? { kind: "base64", mediaType: "application/pdf", data };
  }
  return { type: "file", source, ...check.given({ filename }), ...cache(part, path) };
}

function readCall(item: check.Fields, path: string, turns: Turns): ToolCallPart {
  const custom = item["type"] === "custom_tool_call";
  const callId = check.need(item, "call_id", check.expectText, path);
  return {
    type: "tool-call",
    callId,
    name: check.need(item, "name", check.expectText, path),
    kind: custom ? "custom" : "function",
    arguments: check.need(item, custom ? "input" : "arguments", check.expectString, path),
    ...check.given({
      namespace: check.maybe(item, "namespace", check.expectText, path),
      itemId: check.maybe(item, "id", check.expectText, path),
    }),
    ...callSeal(turns.signatures.get(callId)),
  };
}

/** Reads a result that names no call, as the user's: only the name of its tool says where it comes from. */
function readUncalled(item: check.Fields, path: string): UserContent[] {
  const name = check.maybe(item, "name", check.expectText, path);
  const title = `Result of ${name === undefined ? "a tool" : `the tool ${name}`}:`;
  const [first, ...rest] = readOutput(item, path);
  if (first?.type === "text") return [{ ...first, text: `${title} ${first.text}` }, ...rest];
  return [{ type: "text", text: title }, ...(first === undefined ? [] : [first, ...rest])];
}

function readResult(item: check.Fields, path: string): ToolResultPart {
  return {
    type: "tool-result",
    callId: check.need(item, "call_id", check.expectText, path),
    content: readOutput(item, path),
    ...check.given({ name: check.maybe(item, "name", check.expectText, path) }),
    kind: item["type"] === "custom_tool_call_output" ? "custom" : "function",
  };
}

function readOutput(item: check.Fields, path: string): ToolResultPart["content"] {
  const output = item["output"];
  const where = check.at(path, "output");
  if (output !== undefined && output !== null && typeof output !== "string" && !Array.isArray(output)) {
    check.reject(where, `Invalid '${where}': expected a string or an array of content parts.`);
  }
  return readParts(output, where, readNamedPart).map((part, i) =>
    part.type === "audio" ? opaque((output as check.Fields[])[i] as check.Fields) : typedResult(part),
  );
}

function readReasoning(item: check.Fields, path: string, turns: Turns): void {
  const summary = textsOf(item, "summary", path);
  const text = textsOf(item, "content", path).join("");
  const encrypted = check.maybe(item, "encrypted_content", check.expectString, path);
  const itemId = check.maybe(item, "id", check.expectText, path);
  const carried = encrypted === undefined ? undefined : uncarry(encrypted);
  // The envelope in a stored answer only contains the value; all other members are in the item itself, as in this protocol's own
  // items.
  const own = carried?.stored === undefined ? encrypted : carried.encrypted;
  if (carried !== undefined && carried.stored === undefined) {
    const part = fromCarried(text === "" ? summary.join("\n\n") : text, carried);
    if (part.callId !== undefined) turns.signatures.set(part.callId, part);
    else turns.assistant([part]);
    return;
  }
  const part: ReasoningPart = {
    type: "reasoning",
    text,
    ...check.given({
      itemId,
      encrypted: own,
      summary: summary.length > 0 ? summary : undefined,
      minter: carried?.minter,
    }),
    ...(own === undefined ? {} : { origin: RESPONSES_ORIGIN }),
  };
  turns.assistant([part]);
}

function textsOf(item: check.Fields, key: string, path: string): string[] {
  const where = check.at(path, key);
  return (check.maybe(item, key, check.expectList, path) ?? []).map((element, i) =>
    check.need(check.expectFields(element, check.at(where, i)), "text", check.expectString, check.at(where, i)),
  );
}

function opaque(part: check.Fields): OpaquePart {
  return { type: "opaque", origin: RESPONSES_ORIGIN, value: part };
}
