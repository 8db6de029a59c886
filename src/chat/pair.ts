// Pairs calls with results: protocols require every call of a turn to be answered in the next one. History in another order
// (from a client or a compaction) is rearranged; nothing is lost.

import type { ChatMessage, ToolCallPart, ToolResultPart, UserContent } from "./request.ts";

/**
 * The history with the results of each turn's calls directly after it, in the calls' order. A missing result gets a
 * placeholder, one without a call becomes user text. Returns the same list if nothing changes.
 */
export function pairResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (isPaired(messages)) return messages;
  const waiting = new Map<ToolResultPart, ChatMessage>();
  for (const message of messages) {
    if (message.role === "tool") for (const part of message.content) waiting.set(part, message);
  }
  const out: ChatMessage[] = [];
  messages.forEach((message, at) => {
    if (message.role === "tool") {
      const strays = message.content.filter((part) => waiting.has(part));
      if (strays.length > 0) out.push({ role: "user", content: strays.flatMap(asText) });
      return;
    }
    out.push(message);
    const calls = callsOf(message);
    if (calls.length === 0) return;
    // A result belongs to the nearest preceding turn with calls: only the messages up to the next such turn are searched.
    const later = messages.slice(at + 1);
    const next = later.findIndex((one) => callsOf(one).length > 0);
    const near = new Set(next < 0 ? later : later.slice(0, next));
    const content = calls.map((call) => take(call, waiting, near));
    out.push({ role: "tool", content });
  });
  return out;
}

function isPaired(messages: readonly ChatMessage[]): boolean {
  let owed = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      for (const part of message.content) if (!owed.delete(part.callId)) return false;
      continue;
    }
    if (owed.size > 0) return false;
    const calls = callsOf(message);
    owed = new Set(calls.map((call) => call.callId));
    if (owed.size < calls.length) return false;
  }
  return owed.size === 0;
}

function callsOf(message: ChatMessage): ToolCallPart[] {
  return message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : [];
}

function take(
  call: ToolCallPart,
  waiting: Map<ToolResultPart, ChatMessage>,
  near: ReadonlySet<ChatMessage>,
): ToolResultPart {
  for (const [part, message] of waiting) {
    if (part.callId !== call.callId || !near.has(message)) continue;
    waiting.delete(part);
    return part;
  }
  const content = [{ type: "text" as const, text: "No result was given." }];
  return { type: "tool-result", callId: call.callId, kind: call.kind, content, isError: true };
}

function asText(part: ToolResultPart): UserContent[] {
  return [{ type: "text", text: `Result of the tool call ${part.callId}:` }, ...part.content];
}
