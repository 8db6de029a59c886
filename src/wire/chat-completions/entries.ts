// The messages of a chat completions request, as compaction reads and changes them.

import { isRecord } from "../../base/json-object.ts";
import type { Element, Entry, EntryFormat, Piece, ResultPiece } from "../../chat/entries.ts";
import { contentPieces, listIn, resultPiece, textIn } from "../entry-pieces.ts";

/** Members in which clients return reasoning as text. */
const REASONING = ["reasoning_content", "reasoning"];

/** The list of messages. */
export const chatEntries: EntryFormat = {
  member: "messages",
  list: (body) => (Array.isArray(body["messages"]) ? body["messages"].filter(isRecord) : []),
  fixed: (body) => JSON.stringify([body["tools"] ?? null, body["functions"] ?? null, body["response_format"] ?? null]),
  entry,
  withResults(element, say) {
    if (!isResult(element)) return element;
    const text = say(resultOf(element));
    return text === undefined ? element : { ...element, content: text };
  },
  withoutReasoning(element) {
    // Plain reasoning is not bound to a history, and some providers require it.
    if (element["reasoning_details"] === undefined) return element;
    const { reasoning_details: _details, ...rest } = element;
    const isEmpty = ["content", "tool_calls", "refusal", "audio"].every((name) => rest[name] == null);
    return isEmpty ? undefined : rest;
  },
  withText: (element, text) => ({ ...element, content: text }),
  userMessage: (text) => ({ role: "user", content: text }),
  // The format has no compaction, so there are no records to open.
  expand: (list) => list,
  asksRecord: () => undefined,
  withoutAsking: (body) => body,
  record: ({ text }) => ({ role: "assistant", content: text }),
  answer(body) {
    const [choice] = listIn(body, "choices");
    return isRecord(choice) && isRecord(choice["message"]) ? [choice["message"]] : [];
  },
  streamed: ofChunks,
};

function entry(element: Element): Entry {
  if (isResult(element)) return { role: "tool", pieces: [resultOf(element)] };
  const role = element["role"];
  const pieces: Piece[] = REASONING.flatMap((name) =>
    textIn(element, name) === "" ? [] : [{ type: "reasoning" as const, text: textIn(element, name) }],
  );
  pieces.push(...contentPieces(element["content"]));
  if (textIn(element, "refusal") !== "") pieces.push({ type: "text", text: textIn(element, "refusal") });
  for (const call of Array.isArray(element["tool_calls"]) ? (element["tool_calls"] as unknown[]) : []) {
    if (isRecord(call)) pieces.push(callPiece(call, textIn(call, "id")));
  }
  if (isRecord(element["function_call"]))
    pieces.push(callPiece({ function: element["function_call"] }, legacyId(element["function_call"])));
  if (role === "assistant") return { role, pieces };
  return { role: role === "user" ? "user" : "system", pieces };
}

function isResult(element: Element): boolean {
  return element["role"] === "tool" || element["role"] === "function";
}

function resultOf(element: Element): ResultPiece {
  return resultPiece(textIn(element, "tool_call_id") || legacyId(element), element["content"]);
}

/** The id of a legacy function call, which has none: the name of its function. */
function legacyId(named: Element): string {
  return `function ${textIn(named, "name")}`;
}

function callPiece(call: Element, id: string): Piece {
  const inner = isRecord(call["function"]) ? call["function"] : isRecord(call["custom"]) ? call["custom"] : {};
  return { type: "call", id, name: textIn(inner, "name"), text: textIn(inner, "arguments") || textIn(inner, "input") };
}

/** Assembles the message of a stream from its chunks. */
function ofChunks(frames: readonly Element[]): Element[] {
  const message: Record<string, unknown> = { role: "assistant", content: "" };
  const calls = new Map<number, { id: string; type: "function"; function: { name: string; arguments: string } }>();
  for (const frame of frames) {
    const choice = listIn(frame, "choices").find((one) => isRecord(one) && (one["index"] ?? 0) === 0);
    const delta = isRecord(choice) && isRecord(choice["delta"]) ? choice["delta"] : undefined;
    if (delta === undefined) continue;
    for (const name of ["content", "refusal", "reasoning_content"]) {
      if (typeof delta[name] === "string") message[name] = `${message[name] ?? ""}${delta[name]}`;
    }
    for (const part of listIn(delta, "tool_calls")) {
      if (!isRecord(part)) continue;
      const inner = isRecord(part["function"]) ? part["function"] : {};
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
