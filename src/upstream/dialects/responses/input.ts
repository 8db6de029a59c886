// Writes the history as input items of the Responses API: in a flat list, with every call followed by its output. Ids of items
// are left out, because the upstream would look them up in its own store.

import { sha256Hex } from "../../../base/ids.ts";
import { repairJson } from "../../../base/json-repair.ts";
import type {
  AssistantContent,
  ChatMessage,
  FilePart,
  ImagePart,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../../chat/request.ts";
import { markOf } from "../../cache-form.ts";
import { documentName, ForeignMedia } from "../../foreign.ts";
import { asText, type Loose } from "../loose.ts";

/** The protocol's name in `origin`. */
export const RESPONSES = "openai-responses";

/** An item or content part of the protocol. */
export type ResponsesInputItem = Record<string, unknown>;

/** The maximum length of a call's id at OpenAI. */
const CALL_ID_CHARS_MAX = 64;

/** Types of opaque values that are content parts; all others are items. */
const PARTS = new Set(["input_text", "input_image", "input_file", "input_audio", "output_text", "refusal"]);

/** The input items. `dropped` gets the names of parts that were left out because the answer does not depend on them. */
export function responsesInput(messages: readonly ChatMessage[], dropped: Set<string>): ResponsesInputItem[] {
  const items: ResponsesInputItem[] = [];
  for (const message of messages) {
    if (message.role === "assistant") addAssistant(items, message.content, dropped);
    else if (message.role === "tool") items.push(...message.content.map((part) => outputItem(part, dropped)));
    else addMessage(items, message.role, message.content, dropped);
  }
  // A message without text must still get an answer.
  if (items.length === 0 && messages.some(({ role }) => role === "user")) {
    items.push({ type: "message", role: "user", content: [{ type: "input_text", text: "" }] });
  }
  return paired(items);
}

function addMessage(
  items: ResponsesInputItem[],
  role: string,
  content: readonly UserContent[],
  dropped: Set<string>,
): void {
  const parts: ResponsesInputItem[] = [];
  for (const part of content) {
    const made = inputPart(part, dropped);
    if (made === undefined) continue;
    if (PARTS.has(String(made["type"]))) parts.push(made);
    else items.push(made);
  }
  if (parts.length > 0) items.push({ type: "message", role, content: parts });
}

function inputPart(part: UserContent, dropped: Set<string>): ResponsesInputItem | undefined {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : { type: "input_text", text: part.text, ...markOf(part) };
    case "image":
      return imagePart(part);
    case "file":
      return filePart(part);
    case "audio":
      throw new ForeignMedia("This model's provider does not support audio input.", { source: part.data });
    case "opaque":
      return opaque(part.origin, part.value, dropped);
  }
}

function imagePart(part: ImagePart): ResponsesInputItem {
  const { source, detail } = part;
  const where =
    source.kind === "file"
      ? { file_id: source.fileId }
      : { image_url: source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}` };
  return { type: "input_image", ...where, detail: detail ?? "auto", ...markOf(part) };
}

function filePart(part: FilePart): ResponsesInputItem {
  const { source, filename } = part;
  const mark = markOf(part);
  if (source.kind === "text") return { type: "input_text", text: source.text, ...mark };
  if (source.kind === "file") return { type: "input_file", file_id: source.fileId, ...mark };
  if (source.kind === "url") return { type: "input_file", file_url: source.url, ...mark };
  return {
    type: "input_file",
    filename: filename ?? documentName(source.mediaType),
    file_data: `data:${source.mediaType};base64,${source.data}`,
    ...mark,
  };
}

function opaque(origin: string, value: Loose, dropped: Set<string>): ResponsesInputItem | undefined {
  if (origin === RESPONSES) return { ...value };
  dropped.add(asText(value["type"]) ?? origin);
  return undefined;
}

/** Adds an assistant turn. Text and refusals are collected in one message until an item of another kind. */
function addAssistant(items: ResponsesInputItem[], content: readonly AssistantContent[], dropped: Set<string>): void {
  let parts: ResponsesInputItem[] = [];
  const flush = () => {
    if (parts.length > 0) items.push({ type: "message", role: "assistant", content: parts });
    parts = [];
  };
  for (const part of content) {
    if (part.type === "text") {
      if (part.text !== "") parts.push({ type: "output_text", text: part.text, annotations: [] });
      continue;
    }
    if (part.type === "refusal") {
      parts.push({ type: "refusal", refusal: part.text });
      continue;
    }
    const item = assistantItem(part, dropped);
    if (item === undefined) continue;
    flush();
    items.push(item);
  }
  flush();
}

function assistantItem(part: AssistantContent, dropped: Set<string>): ResponsesInputItem | undefined {
  switch (part.type) {
    case "reasoning":
      return reasoningItem(part);
    case "tool-call":
      return callItem(part);
    case "opaque":
      return opaque(part.origin, part.value, dropped);
    default:
      dropped.add(`messages.${part.type}`);
      return undefined;
  }
}

/**
 * The item of a reasoning part. Only this protocol's encrypted content can be read back, and plain reasoning by the provider that
 * issued it, which then is named as its origin; any other would be refused.
 */
function reasoningItem(part: ReasoningPart): ResponsesInputItem | undefined {
  if (part.origin !== undefined && part.origin !== RESPONSES) return undefined;
  const isPlain = part.encrypted === undefined;
  if (isPlain && (part.origin === undefined || (part.text === "" && part.summary === undefined))) return undefined;
  return {
    type: "reasoning",
    ...(part.itemId === undefined ? {} : { id: part.itemId }),
    summary: (part.summary ?? []).map((text) => ({ type: "summary_text", text })),
    ...(part.text === "" ? {} : { content: [{ type: "reasoning_text", text: part.text }] }),
    ...(isPlain ? {} : { encrypted_content: part.encrypted }),
  };
}

function callItem(part: ToolCallPart): ResponsesInputItem {
  const { name, namespace } = part;
  const call_id = callId(part.callId);
  const named = { call_id, name, ...(namespace === undefined ? {} : { namespace }) };
  if (part.kind === "custom") return { type: "custom_tool_call", ...named, input: part.arguments };
  return { type: "function_call", ...named, arguments: repairJson(part.arguments) ?? part.arguments };
}

function callId(id: string): string {
  return id.length <= CALL_ID_CHARS_MAX ? id : `call_${sha256Hex(id).slice(0, 48)}`;
}

function outputItem(part: ToolResultPart, dropped: Set<string>): ResponsesInputItem {
  const parts = part.content.map((piece) => inputPart(piece, dropped)).filter((made) => made !== undefined);
  // The protocol has no field that marks a call as failed.
  if (part.isError) parts.unshift({ type: "input_text", text: "Error:" });
  const last = parts.at(-1);
  if (last !== undefined) parts[parts.length - 1] = { ...markOf(part), ...last };
  const texts = parts.map((made) => {
    const isPlain = made["type"] === "input_text" && made["prompt_cache_breakpoint"] === undefined;
    return isPlain ? String(made["text"]) : undefined;
  });
  const output = texts.every((text) => text !== undefined) ? texts.join(part.isError ? " " : "\n") : parts;
  const type = part.kind === "custom" ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: callId(part.callId), output };
}

const CALLS = new Set(["function_call", "custom_tool_call"]);
const OUTPUTS = new Set(["function_call_output", "custom_tool_call_output"]);

/** Calls without output, and outputs without call, would be refused. The former get an output, the latter become text. */
function paired(items: readonly ResponsesInputItem[]): ResponsesInputItem[] {
  const kinds = new Map<unknown, unknown>();
  for (const item of items) if (CALLS.has(String(item["type"]))) kinds.set(item["call_id"], item["type"]);
  const answered = new Set<unknown>();
  for (const item of items) if (OUTPUTS.has(String(item["type"]))) answered.add(item["call_id"]);
  return items.flatMap((item) => {
    const id = item["call_id"];
    if (OUTPUTS.has(String(item["type"]))) {
      const kind = kinds.get(id);
      if (kind !== undefined) return [{ ...item, type: `${kind}_output` }];
      const text = typeof item["output"] === "string" ? item["output"] : JSON.stringify(item["output"]);
      const content = [{ type: "input_text", text: `Result of the tool call ${id}:\n${text}` }];
      return [{ type: "message", role: "user", content }];
    }
    if (!CALLS.has(String(item["type"])) || answered.has(id)) return [item];
    return [item, { type: `${item["type"]}_output`, call_id: id, output: "No result was given." }];
  });
}
