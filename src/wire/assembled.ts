// An answer as the client has it, put together as what the client will hand back of it: elements of its list of messages. Read
// from the text that went out, whole or streamed, once it is complete.

import { parseFrames } from "../base/sse.ts";
import type { Element } from "../chat/entries.ts";
import { isFields } from "./check.ts";
import type { WireFormat } from "./format.ts";

/** The elements that an answer adds to the client's list; none where the text is no whole answer. */
export function answerElements(format: WireFormat["name"], text: string): Element[] {
  const trimmed = text.trimStart();
  if (trimmed.startsWith("{")) {
    const body = parsed(trimmed);
    return body === undefined ? [] : ofWhole(format, body);
  }
  const frames = [...parseFrames(text)].flatMap(({ data }): Element[] => {
    const frame = parsed(data);
    return frame === undefined ? [] : [frame];
  });
  switch (format) {
    case "openai-chat":
      return ofChatChunks(frames);
    case "openai-responses":
      return ofResponsesEvents(frames);
    case "anthropic-messages":
      return ofMessagesEvents(frames);
    default:
      return [];
  }
}

function parsed(text: string): Element | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    // `[DONE]`, or a frame that was cut.
    return undefined;
  }
}

function ofWhole(format: WireFormat["name"], body: Element): Element[] {
  if (format === "openai-responses") return listIn(body, "output").filter(isFields);
  if (format === "anthropic-messages") {
    return Array.isArray(body["content"]) ? [{ role: "assistant", content: body["content"] }] : [];
  }
  const [choice] = listIn(body, "choices");
  return isFields(choice) && isFields(choice["message"]) ? [choice["message"]] : [];
}

function listIn(value: Element, name: string): readonly unknown[] {
  const list = value[name];
  return Array.isArray(list) ? list : [];
}

function ofResponsesEvents(frames: readonly Element[]): Element[] {
  const last = frames.findLast(({ response }) => isFields(response))?.["response"] as Element | undefined;
  return last === undefined ? [] : listIn(last, "output").filter(isFields);
}

function ofChatChunks(frames: readonly Element[]): Element[] {
  const message: Record<string, unknown> = { role: "assistant", content: "" };
  const calls = new Map<number, { id: string; type: "function"; function: { name: string; arguments: string } }>();
  for (const frame of frames) {
    const choice = listIn(frame, "choices").find((one) => isFields(one) && (one["index"] ?? 0) === 0);
    const delta = isFields(choice) && isFields(choice["delta"]) ? choice["delta"] : undefined;
    if (delta === undefined) continue;
    for (const name of ["content", "refusal", "reasoning_content"]) {
      if (typeof delta[name] === "string") message[name] = `${message[name] ?? ""}${delta[name]}`;
    }
    for (const part of listIn(delta, "tool_calls")) {
      if (!isFields(part)) continue;
      const inner = isFields(part["function"]) ? part["function"] : {};
      const at = Number(part["index"] ?? 0);
      const call = calls.get(at) ?? { id: "", type: "function", function: { name: "", arguments: "" } };
      if (typeof part["id"] === "string" && call.id === "") call.id = part["id"];
      if (typeof inner["name"] === "string") call.function.name += inner["name"];
      if (typeof inner["arguments"] === "string") call.function.arguments += inner["arguments"];
      calls.set(at, call);
    }
  }
  if (calls.size > 0) message["tool_calls"] = [...calls.values()];
  return message["content"] === "" && calls.size === 0 ? [] : [message];
}

function ofMessagesEvents(frames: readonly Element[]): Element[] {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const frame of frames) {
    const index = Number(frame["index"]);
    if (frame["type"] === "content_block_start" && isFields(frame["content_block"])) {
      blocks[index] = { ...frame["content_block"] };
    } else if (frame["type"] === "content_block_delta" && isFields(frame["delta"]) && blocks[index] !== undefined) {
      addDelta(blocks[index], frame["delta"], (text) => inputs.set(index, (inputs.get(index) ?? "") + text));
    }
  }
  for (const [index, text] of inputs) {
    const block = blocks[index];
    if (block !== undefined) block["input"] = parsed(text) ?? block["input"] ?? {};
  }
  const content = blocks.filter((block) => block !== undefined);
  return content.length === 0 ? [] : [{ role: "assistant", content }];
}

function addDelta(block: Record<string, unknown>, delta: Element, input: (text: string) => void): void {
  switch (delta["type"]) {
    case "text_delta":
      block["text"] = `${block["text"] ?? ""}${delta["text"]}`;
      break;
    case "thinking_delta":
      block["thinking"] = `${block["thinking"] ?? ""}${delta["thinking"]}`;
      break;
    case "signature_delta":
      block["signature"] = delta["signature"];
      break;
    case "citations_delta":
      block["citations"] = [
        ...(Array.isArray(block["citations"]) ? (block["citations"] as unknown[]) : []),
        delta["citation"],
      ];
      break;
    case "input_json_delta":
      input(String(delta["partial_json"] ?? ""));
      break;
    case "compaction_delta":
      for (const name of ["content", "encrypted_content"]) if (delta[name] !== undefined) block[name] = delta[name];
      break;
    default:
      break;
  }
}
