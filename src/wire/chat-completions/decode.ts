// Reads an OpenAI chat completions request (docs/reference/http-api.md#post-v1chatcompletions).

import { prefixedId } from "../../base/ids.ts";
import { isRecord } from "../../base/json-object.ts";
import type {
  AssistantContent,
  ChatMessage,
  ChatRequest,
  FilePart,
  ImagePart,
  MediaSource,
  OpaquePart,
  ResponseFormat,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import {
  at,
  type Check,
  expectBoolean,
  expectFields,
  expectList,
  expectListOf,
  expectOneOf,
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
import { readBreakpoint, readDataUrl, typedPart, typedResult } from "../media-parts.ts";
import { wantsUsage } from "../usage-wish.ts";
import { CHAT_ORIGIN, readCallSeal, readReasoning } from "./details.ts";
import { CHAT_FIELDS } from "./fields.ts";
import { toolChoiceOf, toolsOf } from "./tools.ts";

const expectTextType = expectOneOf("text");

/** Validates and reads the body. Throws `ApiError` `invalid_request` with the parameter's path. */
export function decodeChatCompletions(body: Fields, headers: DecodeOptions = {}): ChatRequest {
  const stream = maybe(body, "stream", expectBoolean) ?? false;
  const usageWanted = wantsUsage(body, headers);
  const responseFormat = maybe(body, "response_format", responseFormatOf);
  const read = CHAT_FIELDS.read(body);
  if (read.topLogprobs !== undefined && read.logprobs !== true) {
    reject("top_logprobs", "Invalid 'top_logprobs': 'logprobs' must be true.");
  }
  return {
    model: need(body, "model", expectText),
    messages: messagesOf(need(body, "messages", expectList)),
    stream,
    includeUsage: stream && usageWanted,
    tools: toolsOf(body),
    // A format that only some servers support, such as a grammar, has no neutral form.
    extra: {
      ...remaining(body, CHAT_FIELDS.known),
      ...given({ response_format: responseFormat ? undefined : body["response_format"] }),
    },
    ...given({ toolChoice: toolChoiceOf(body), responseFormat }),
    ...read,
  };
}

const responseFormatOf: Check<ResponseFormat | undefined> = (value, path) => {
  const fields = expectFields(value, path);
  const type = need(fields, "type", expectText, path);
  if (type === "text" || type === "json_object") return { type };
  if (type !== "json_schema") return undefined;
  const inner = `${path}.json_schema`;
  const schema = need(fields, "json_schema", expectFields, path);
  return {
    type,
    name: need(schema, "name", expectText, inner),
    schema: maybe(schema, "schema", expectFields, inner) ?? {},
    ...given({
      strict: maybe(schema, "strict", expectBoolean, inner),
      description: maybe(schema, "description", expectString, inner),
    }),
  };
};

function messagesOf(list: readonly unknown[]): ChatMessage[] {
  if (list.length === 0) reject("messages", "Invalid 'messages': must contain at least one message.");
  const out: ChatMessage[] = [];
  list.forEach((value, i) => {
    const message = messageOf(value, at("messages", i));
    const last = out.at(-1);
    // The results of one turn stay together; each dialect may split them again.
    if (message.role === "tool" && last?.role === "tool") last.content.push(...message.content);
    else out.push(message);
  });
  return out;
}

const expectRole = expectOneOf("system", "developer", "user", "assistant", "tool", "function");

function messageOf(value: unknown, path: string): ChatMessage {
  const fields = expectFields(value, path);
  const role = need(fields, "role", expectRole, path);
  const name = role === "tool" || role === "function" ? {} : given({ name: maybe(fields, "name", expectString, path) });
  const inner = at(path, "content");
  switch (role) {
    case "system":
    case "developer":
      return { role: "system", content: contentOf(fields["content"], inner, textPartOf), ...name };
    case "user":
      return { role: "user", content: contentOf(fields["content"], inner, userPartOf), ...name };
    case "assistant":
      return { role: "assistant", content: assistantOf(fields, path), ...name };
    case "tool":
      return { role: "tool", content: [toolResultOf(fields, path)] };
    case "function": {
      const fn = need(fields, "name", expectText, path);
      return {
        role: "tool",
        content: [
          { type: "tool-result", callId: fn, name: fn, content: contentOf(fields["content"], inner, textPartOf) },
        ],
      };
    }
  }
}

function contentOf<T extends { type: string }>(value: unknown, path: string, part: Check<T>): (T | TextPart)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value)) {
    if (value === undefined) reject(path, `Missing required parameter: '${path}'.`);
    reject(path, `Invalid '${path}': expected a string or an array of parts.`);
  }
  return value.map((element, i) => part(element, at(path, i)));
}

/** The marker of a part: Anthropic's, as routers accept it, or OpenAI's own. */
function cache(fields: Fields, path: string): { cacheControl?: Fields } {
  return given({ cacheControl: maybe(fields, "cache_control", expectFields, path) ?? readBreakpoint(fields, path) });
}

const textPartOf: Check<TextPart> = (value, path) => {
  const fields = expectFields(value, path);
  need(fields, "type", expectTextType, path);
  return { type: "text", text: need(fields, "text", expectString, path), ...cache(fields, path) };
};

const userPartOf: Check<UserContent> = (value, path) => typedPart(namedPartOf(value, path));

/** Reads a part as its name says. */
const namedPartOf: Check<UserContent> = (value, path) => {
  const fields = expectFields(value, path);
  const type = need(fields, "type", expectText, path);
  switch (type) {
    case "text":
      return textPartOf(value, path);
    case "image_url":
      return { ...imageOf(fields["image_url"], at(path, "image_url")), ...cache(fields, path) };
    case "input_audio": {
      const audio = need(fields, "input_audio", expectFields, path);
      const inner = at(path, "input_audio");
      return {
        type: "audio",
        data: need(audio, "data", expectText, inner),
        format: need(audio, "format", expectText, inner),
      };
    }
    case "file":
      return { ...fileOf(need(fields, "file", expectFields, path), at(path, "file")), ...cache(fields, path) };
    default:
      return { type: "opaque", origin: CHAT_ORIGIN, value: fields };
  }
};

/** Reads an image in both forms: `{url, detail}` and, as some clients send it, a bare URL. */
function imageOf(value: unknown, path: string): ImagePart {
  if (typeof value === "string") return { type: "image", source: mediaOf(value, path) };
  const fields = expectFields(value, path);
  return {
    type: "image",
    source: mediaOf(need(fields, "url", expectText, path), at(path, "url")),
    ...given({ detail: maybe(fields, "detail", expectString, path) }),
  };
}

/** Reads a URL: an http(s) URL, a base64 data URL, or the id of an uploaded file. */
function mediaOf(url: string, path: string): MediaSource {
  if (url.startsWith("file-")) return { kind: "file", fileId: url };
  if (url.startsWith("data:")) {
    return readDataUrl(url) ?? reject(path, `Invalid '${path}': expected a base64 data URL.`);
  }
  if (!/^https?:\/\//i.test(url)) reject(path, `Invalid '${path}': expected an http(s) URL, a data URL or a file id.`);
  return { kind: "url", url };
}

function fileOf(fields: Fields, path: string): FilePart {
  const filename = given({ filename: maybe(fields, "filename", expectString, path) });
  const id = maybe(fields, "file_id", expectText, path);
  if (id !== undefined) return { type: "file", source: { kind: "file", fileId: id }, ...filename };
  const data = need(fields, "file_data", expectText, path);
  const source: MediaSource = data.startsWith("data:")
    ? mediaOf(data, at(path, "file_data"))
    : { kind: "base64", mediaType: "application/pdf", data };
  return { type: "file", source, ...filename };
}

function assistantOf(fields: Fields, path: string): AssistantContent[] {
  const out: AssistantContent[] = readReasoning(fields);
  const content = fields["content"];
  if (content !== undefined && content !== null) out.push(...contentOf(content, at(path, "content"), assistantPartOf));
  const refusal = maybe(fields, "refusal", expectString, path);
  if (refusal !== undefined && refusal !== "") out.push({ type: "refusal", text: refusal });
  const calls = maybe(fields, "tool_calls", expectListOf(toolCallOf), path) ?? [];
  out.push(...calls);
  const legacy = maybe(fields, "function_call", expectFields, path);
  if (legacy !== undefined) out.push(callOf(legacy, at(path, "function_call"), String(legacy["name"])));
  if (out.length === 0 && content === undefined) {
    reject(at(path, "content"), `Missing required parameter: '${at(path, "content")}' (or tool_calls).`);
  }
  return out;
}

const assistantPartOf: Check<AssistantContent> = (value, path) => {
  const fields = expectFields(value, path);
  const type = need(fields, "type", expectText, path);
  if (type === "text") return textPartOf(value, path);
  if (type === "refusal") return { type: "refusal", text: need(fields, "refusal", expectString, path) };
  return { type: "opaque", origin: CHAT_ORIGIN, value: fields } satisfies OpaquePart;
};

const toolCallOf: Check<ToolCallPart> = (value, path) => {
  const fields = expectFields(value, path);
  const id = maybe(fields, "id", expectText, path) ?? prefixedId("call_");
  if (fields["type"] !== "custom")
    return {
      ...callOf(need(fields, "function", expectFields, path), at(path, "function"), id),
      ...readCallSeal(fields),
    };
  const custom = need(fields, "custom", expectFields, path);
  const inner = at(path, "custom");
  return {
    type: "tool-call",
    callId: id,
    name: need(custom, "name", expectText, inner),
    kind: "custom",
    arguments: need(custom, "input", expectString, inner),
  };
};

function callOf(fn: Fields, path: string, callId: string): ToolCallPart {
  const given = fn["arguments"];
  // Some clients return the arguments as a parsed object.
  const text = isRecord(given) ? JSON.stringify(given) : (maybe(fn, "arguments", expectString, path) ?? "{}");
  return { type: "tool-call", callId, name: need(fn, "name", expectText, path), kind: "function", arguments: text };
}

function toolResultOf(fields: Fields, path: string): ToolResultPart {
  const content = contentOf(fields["content"] ?? "", at(path, "content"), namedPartOf);
  return {
    type: "tool-result",
    callId: need(fields, "tool_call_id", expectText, path),
    content: content.map((part, i) =>
      part.type === "audio"
        ? reject(at(at(path, "content"), i), "A tool message cannot contain audio.")
        : typedResult(part),
    ),
    ...cache(fields, path),
  };
}
