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
import * as check from "../check.ts";
import type { DecodeOptions } from "../format.ts";
import { readBreakpoint, readDataUrl, typedPart, typedResult } from "../media-parts.ts";
import { wantsCost, wantsUsage } from "../usage-wish.ts";
import { CHAT_ORIGIN, readCallSeal, readReasoning } from "./details.ts";
import { CHAT_FIELDS } from "./fields.ts";
import { toolChoiceOf, toolsOf } from "./tools.ts";

const expectTextType = check.expectOneOf("text");

/** Validates and reads the body. Throws `ApiError` `invalid_request` with the parameter's path. */
export function decodeChatCompletions(body: check.Fields, headers: DecodeOptions = {}): ChatRequest {
  const stream = check.maybe(body, "stream", check.expectBoolean) ?? false;
  const usageWanted = wantsUsage(body, headers);
  const responseFormat = check.maybe(body, "response_format", responseFormatOf);
  const read = CHAT_FIELDS.read(body);
  if (read.topLogprobs !== undefined && read.logprobs !== true) {
    check.reject("top_logprobs", "Invalid 'top_logprobs': 'logprobs' must be true.");
  }
  const extra = check.remaining(body, CHAT_FIELDS.known);
  // A format that only some servers support, such as a grammar, has no neutral form.
  if (responseFormat === undefined && body["response_format"] !== undefined)
    extra["response_format"] = body["response_format"];
  const request: ChatRequest = {
    model: check.need(body, "model", check.expectText),
    messages: messagesOf(check.need(body, "messages", check.expectList)),
    stream,
    includeUsage: stream && usageWanted,
    tools: toolsOf(body),
    extra,
  };
  const toolChoice = toolChoiceOf(body);
  if (toolChoice !== undefined) request.toolChoice = toolChoice;
  if (responseFormat !== undefined) request.responseFormat = responseFormat;
  if (wantsCost(body) === true) request.includeCost = true;
  return Object.assign(request, read);
}

const responseFormatOf: check.Check<ResponseFormat | undefined> = (value, path) => {
  const fields = check.expectFields(value, path);
  const type = check.need(fields, "type", check.expectText, path);
  if (type === "text" || type === "json_object") return { type };
  if (type !== "json_schema") return undefined;
  const inner = `${path}.json_schema`;
  const schema = check.need(fields, "json_schema", check.expectFields, path);
  return {
    type,
    name: check.need(schema, "name", check.expectText, inner),
    schema: check.maybe(schema, "schema", check.expectFields, inner) ?? {},
    ...check.given({
      strict: check.maybe(schema, "strict", check.expectBoolean, inner),
      description: check.maybe(schema, "description", check.expectString, inner),
    }),
  };
};

function messagesOf(list: readonly unknown[]): ChatMessage[] {
  if (list.length === 0) check.reject("messages", "Invalid 'messages': must contain at least one message.");
  const out: ChatMessage[] = [];
  for (let i = 0; i < list.length; i++) {
    const message = messageOf(list[i], check.at("messages", i));
    const last = out.at(-1);
    // The results of one turn stay together; each dialect may split them again.
    if (message.role === "tool" && last?.role === "tool") last.content.push(...message.content);
    else out.push(message);
  }
  return out;
}

const expectRole = check.expectOneOf("system", "developer", "user", "assistant", "tool", "function");

function messageOf(value: unknown, path: string): ChatMessage {
  const fields = check.expectFields(value, path);
  const role = check.need(fields, "role", expectRole, path);
  const name =
    role === "tool" || role === "function" ? undefined : check.maybe(fields, "name", check.expectString, path);
  const inner = check.at(path, "content");
  switch (role) {
    case "system":
    case "developer":
      return named({ role: "system", content: contentOf(fields["content"], inner, textPartOf) }, name);
    case "user":
      return named({ role: "user", content: contentOf(fields["content"], inner, userPartOf) }, name);
    case "assistant":
      return named({ role: "assistant", content: assistantOf(fields, path) }, name);
    case "tool":
      return { role: "tool", content: [toolResultOf(fields, path)] };
    case "function": {
      const fn = check.need(fields, "name", check.expectText, path);
      return {
        role: "tool",
        content: [
          { type: "tool-result", callId: fn, name: fn, content: contentOf(fields["content"], inner, textPartOf) },
        ],
      };
    }
  }
}

function named(message: ChatMessage & { name?: string }, name: string | undefined): ChatMessage {
  if (name !== undefined) message.name = name;
  return message;
}

function contentOf<T extends { type: string }>(value: unknown, path: string, part: check.Check<T>): (T | TextPart)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value)) {
    if (value === undefined) check.reject(path, `Missing required parameter: '${path}'.`);
    check.reject(path, `Invalid '${path}': expected a string or an array of parts.`);
  }
  return partsOf(value, path, part);
}

function partsOf<T>(list: readonly unknown[], path: string, part: check.Check<T>): T[] {
  return list.map((element, i) => part(element, check.at(path, i)));
}

/** The marker of a part: Anthropic's, as routers accept it, or OpenAI's own. */
function cache(fields: check.Fields, path: string): { cacheControl?: check.Fields } {
  return check.given({
    cacheControl: check.maybe(fields, "cache_control", check.expectFields, path) ?? readBreakpoint(fields, path),
  });
}

const textPartOf: check.Check<TextPart> = (value, path) => {
  const fields = check.expectFields(value, path);
  check.need(fields, "type", expectTextType, path);
  return { type: "text", text: check.need(fields, "text", check.expectString, path), ...cache(fields, path) };
};

const userPartOf: check.Check<UserContent> = (value, path) => typedPart(namedPartOf(value, path));

/** Reads a part as its name says. */
const namedPartOf: check.Check<UserContent> = (value, path) => {
  const fields = check.expectFields(value, path);
  const type = check.need(fields, "type", check.expectText, path);
  switch (type) {
    case "text":
      return textPartOf(value, path);
    case "image_url":
      return { ...imageOf(fields["image_url"], check.at(path, "image_url")), ...cache(fields, path) };
    case "input_audio": {
      const audio = check.need(fields, "input_audio", check.expectFields, path);
      const inner = check.at(path, "input_audio");
      return {
        type: "audio",
        data: check.need(audio, "data", check.expectText, inner),
        format: check.need(audio, "format", check.expectText, inner),
      };
    }
    case "file":
      return {
        ...fileOf(check.need(fields, "file", check.expectFields, path), check.at(path, "file")),
        ...cache(fields, path),
      };
    default:
      return { type: "opaque", origin: CHAT_ORIGIN, value: fields };
  }
};

/** Reads an image in both forms: `{url, detail}` and, as some clients send it, a bare URL. */
function imageOf(value: unknown, path: string): ImagePart {
  if (typeof value === "string") return { type: "image", source: mediaOf(value, path) };
  const fields = check.expectFields(value, path);
  return {
    type: "image",
    source: mediaOf(check.need(fields, "url", check.expectText, path), check.at(path, "url")),
    ...check.given({ detail: check.maybe(fields, "detail", check.expectString, path) }),
  };
}

/** Reads a URL: an http(s) URL, a base64 data URL, or the id of an uploaded file. */
function mediaOf(url: string, path: string): MediaSource {
  if (url.startsWith("file-")) return { kind: "file", fileId: url };
  if (url.startsWith("data:")) {
    return readDataUrl(url) ?? check.reject(path, `Invalid '${path}': expected a base64 data URL.`);
  }
  if (!/^https?:\/\//i.test(url))
    check.reject(path, `Invalid '${path}': expected an http(s) URL, a data URL or a file id.`);
  return { kind: "url", url };
}

function fileOf(fields: check.Fields, path: string): FilePart {
  const filename = check.given({ filename: check.maybe(fields, "filename", check.expectString, path) });
  const id = check.maybe(fields, "file_id", check.expectText, path);
  if (id !== undefined) return { type: "file", source: { kind: "file", fileId: id }, ...filename };
  const data = check.need(fields, "file_data", check.expectText, path);
  const source: MediaSource = data.startsWith("data:")
    ? mediaOf(data, check.at(path, "file_data"))
    : { kind: "base64", mediaType: "application/pdf", data };
  return { type: "file", source, ...filename };
}

function assistantOf(fields: check.Fields, path: string): AssistantContent[] {
  const out: AssistantContent[] = readReasoning(fields);
  const content = fields["content"];
  if (content !== undefined && content !== null)
    out.push(...contentOf(content, check.at(path, "content"), assistantPartOf));
  const refusal = check.maybe(fields, "refusal", check.expectString, path);
  if (refusal !== undefined && refusal !== "") out.push({ type: "refusal", text: refusal });
  // Pictures of an earlier answer, as OpenRouter's clients send them back.
  out.push(...(check.maybe(fields, "images", check.expectListOf(pictureOf), path) ?? []));
  const calls = check.maybe(fields, "tool_calls", check.expectListOf(toolCallOf), path) ?? [];
  out.push(...calls);
  const legacy = check.maybe(fields, "function_call", check.expectFields, path);
  if (legacy !== undefined) out.push(callOf(legacy, check.at(path, "function_call"), String(legacy["name"])));
  if (out.length === 0 && content === undefined) {
    check.reject(
      check.at(path, "content"),
      `Missing required parameter: '${check.at(path, "content")}' (or tool_calls).`,
    );
  }
  return out;
}

const assistantPartOf: check.Check<AssistantContent> = (value, path) => {
  const fields = check.expectFields(value, path);
  const type = check.need(fields, "type", check.expectText, path);
  if (type === "text") return textPartOf(value, path);
  if (type === "refusal") return { type: "refusal", text: check.need(fields, "refusal", check.expectString, path) };
  return { type: "opaque", origin: CHAT_ORIGIN, value: fields } satisfies OpaquePart;
};

const pictureOf: check.Check<ImagePart> = (value, path) => {
  const fields = check.expectFields(value, path);
  return imageOf(fields["image_url"], check.at(path, "image_url"));
};

const toolCallOf: check.Check<ToolCallPart> = (value, path) => {
  const fields = check.expectFields(value, path);
  const id = check.maybe(fields, "id", check.expectText, path) ?? prefixedId("call_");
  if (fields["type"] !== "custom")
    return {
      ...callOf(check.need(fields, "function", check.expectFields, path), check.at(path, "function"), id),
      ...readCallSeal(fields),
    };
  const custom = check.need(fields, "custom", check.expectFields, path);
  const inner = check.at(path, "custom");
  return {
    type: "tool-call",
    callId: id,
    name: check.need(custom, "name", check.expectText, inner),
    kind: "custom",
    arguments: check.need(custom, "input", check.expectString, inner),
  };
};

function callOf(fn: check.Fields, path: string, callId: string): ToolCallPart {
  const given = fn["arguments"];
  // Some clients return the arguments as a parsed object.
  const text = isRecord(given)
    ? JSON.stringify(given)
    : (check.maybe(fn, "arguments", check.expectString, path) ?? "{}");
  return {
    type: "tool-call",
    callId,
    name: check.need(fn, "name", check.expectText, path),
    kind: "function",
    arguments: text,
  };
}

function toolResultOf(fields: check.Fields, path: string): ToolResultPart {
  const content = contentOf(fields["content"] ?? "", check.at(path, "content"), namedPartOf);
  return {
    type: "tool-result",
    callId: check.need(fields, "tool_call_id", check.expectText, path),
    content: content.map((part, i) =>
      part.type === "audio"
        ? check.reject(check.at(check.at(path, "content"), i), "A tool message cannot contain audio.")
        : typedResult(part),
    ),
    ...cache(fields, path),
  };
}
