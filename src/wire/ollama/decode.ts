// Reads requests of Ollama's API. Its calls of tools need no ids, so those that have none are numbered, and each result belongs to the
// earliest call of its tool that has none yet.

import type {
  AssistantContent,
  ChatMessage,
  ChatRequest,
  FunctionTool,
  ImagePart,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import * as check from "../check.ts";
import { OpenCalls } from "../open-calls.ts";
import { OLLAMA_CHAT_FIELDS, OLLAMA_GENERATE_FIELDS, ollamaFormatOf, refuseText } from "./fields.ts";

/** Reads the body of `POST /api/chat`. */
export function decodeOllamaChat(body: check.Fields): ChatRequest {
  return {
    ...sharedParts(body),
    messages: readMessages(check.maybe(body, "messages", check.expectListOf(check.expectFields)) ?? []),
    tools: (check.maybe(body, "tools", check.expectList) ?? []).map((tool, i) => readTool(tool, `tools[${i}]`)),
    ...OLLAMA_CHAT_FIELDS.read(body),
    extra: check.remaining(body, OLLAMA_CHAT_FIELDS.known),
  };
}

/** Reads the body of `POST /api/generate`. */
export function decodeOllamaGenerate(body: check.Fields): ChatRequest {
  refuseText(body, "suffix", "filling in the middle of a text is not supported. Leave it out.");
  refuseText(body, "template", "the provider applies its own template. Leave it out.");
  if (check.maybe(body, "raw", check.expectBoolean) === true) {
    check.reject("raw", "Invalid 'raw': the provider applies its own template. Leave it out, or send false.");
  }
  const system = check.maybe(body, "system", check.expectString) ?? "";
  const prompt = check.maybe(body, "prompt", check.expectString) ?? "";
  const content: UserContent[] = [...textOf(prompt), ...imagesOf(body, "")];
  const messages: ChatMessage[] = [];
  if (content.length > 0) {
    if (system !== "") messages.push({ role: "system", content: [{ type: "text", text: system }] });
    messages.push({ role: "user", content });
  }
  return {
    ...sharedParts(body),
    messages,
    tools: [],
    ...OLLAMA_GENERATE_FIELDS.read(body),
    extra: check.remaining(body, OLLAMA_GENERATE_FIELDS.known),
  };
}

function sharedParts(body: check.Fields) {
  return {
    model: check.need(body, "model", check.expectText),
    stream: check.maybe(body, "stream", check.expectBoolean) ?? true,
    includeUsage: true,
    ...check.given({ responseFormat: ollamaFormatOf(body) }),
  };
}

function readMessages(entries: readonly check.Fields[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const openCalls = new OpenCalls();
  let count = 0;
  for (const [i, entry] of entries.entries()) {
    const path = `messages[${i}]`;
    const role = check.need(entry, "role", check.expectOneOf("system", "user", "assistant", "tool"), path);
    const text = check.maybe(entry, "content", check.expectString, path) ?? "";
    if (role === "system") {
      if (text !== "") messages.push({ role, content: [{ type: "text", text }] });
    } else if (role === "user") {
      messages.push({ role, content: [...textOf(text), ...imagesOf(entry, path)] });
    } else if (role === "assistant") {
      const calls = readCalls(entry, path, () => `call_${count++}`);
      openCalls.add(calls);
      const pictures = imagesOf(entry, path);
      const content: AssistantContent[] = [...reasoningOf(entry, path), ...textOf(text), ...pictures, ...calls];
      if (content.length > 0) messages.push({ role, content });
    } else {
      const part = readResult(entry, text, { path, open: openCalls });
      const last = messages.at(-1);
      if (last?.role === "tool") last.content.push(part);
      else messages.push({ role, content: [part] });
    }
  }
  return messages;
}

function textOf(text: string) {
  return text === "" ? [] : [{ type: "text" as const, text }];
}

function reasoningOf(entry: check.Fields, path: string) {
  const text = check.maybe(entry, "thinking", check.expectString, path) ?? "";
  return text === "" ? [] : [{ type: "reasoning" as const, text }];
}

function readCalls(entry: check.Fields, path: string, makeId: () => string) {
  const list = check.maybe(entry, "tool_calls", check.expectListOf(check.expectFields), path) ?? [];
  return list.map((call, i) => {
    const at = `${path}.tool_calls[${i}]`;
    const fn = check.need(call, "function", check.expectFields, at);
    const given = fn["arguments"] ?? {};
    return {
      type: "tool-call" as const,
      callId: check.maybe(call, "id", check.expectText, at) ?? makeId(),
      name: check.need(fn, "name", check.expectText, `${at}.function`),
      kind: "function" as const,
      // Some clients send the text of the arguments, as OpenAI's do.
      arguments:
        typeof given === "string" ? given : JSON.stringify(check.expectFields(given, `${at}.function.arguments`)),
    };
  });
}

/** The result of a call: by its id, else of the earliest open call of the tool, else of the earliest open call. */
function readResult(
  entry: check.Fields,
  text: string,
  { path, open }: { readonly path: string; readonly open: OpenCalls },
): ToolResultPart {
  const id = check.maybe(entry, "tool_call_id", check.expectText, path);
  const name =
    check.maybe(entry, "tool_name", check.expectText, path) ?? check.maybe(entry, "name", check.expectText, path);
  const call = open.take(id, name);
  const callId = id ?? call?.callId;
  if (callId === undefined) {
    return check.reject(path, `Invalid '${path}': no call of a tool precedes this result, or each has its result.`);
  }
  const toolName = name ?? call?.name;
  return {
    type: "tool-result",
    callId,
    ...(toolName === undefined ? {} : { name: toolName }),
    content: [{ type: "text", text }, ...imagesOf(entry, path)],
  };
}

/** How images begin in base64, by their media type. */
const IMAGE_BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{7}RUJQ/, "image/webp"],
];
const DATA_URL = /^data:image\/[\w.+-]+;base64,/;

function imagesOf(fields: check.Fields, path: string): ImagePart[] {
  const list = check.maybe(fields, "images", check.expectListOf(check.expectText), path) ?? [];
  return list.map((image, i) => {
    const data = image.replace(DATA_URL, "");
    const mediaType = IMAGE_BEGINNINGS.find(([begins]) => begins.test(data))?.[1];
    if (mediaType === undefined) {
      const at = `${check.at(path, "images")}[${i}]`;
      return check.reject(at, `Invalid '${at}': expected a PNG, JPEG, GIF or WebP image as base64.`);
    }
    return { type: "image", source: { kind: "base64", mediaType, data } };
  });
}

function readTool(value: unknown, path: string): FunctionTool {
  const tool = check.expectFields(value, path);
  check.maybe(tool, "type", check.expectOneOf("function"), path);
  const fn = check.need(tool, "function", check.expectFields, path);
  const at = `${path}.function`;
  return {
    type: "function",
    name: check.need(fn, "name", check.expectText, at),
    ...check.given({
      description: check.maybe(fn, "description", check.expectString, at),
      parameters: check.maybe(fn, "parameters", check.expectFields, at),
    }),
  };
}
