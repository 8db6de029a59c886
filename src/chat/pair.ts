// Pairs calls with results: protocols require every call of a turn to be answered in the next one. History in another order
// (from a client, a compaction or a tool that answers late) is rearranged; nothing is lost.

import type { ChatMessage, ToolCallPart, ToolResultPart, UserContent } from "./request.ts";

/** A call and its result, once it is found. */
interface Answered {
  call: ToolCallPart;
  result?: ToolResultPart;
}

/**
 * The history with the results of each turn's calls directly after it, in the calls' order, however late they came. A missing
 * result gets a placeholder, one without a call becomes user text. Returns the same list if nothing changes.
 */
export function pairResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (isPaired(messages)) return messages;
  const { answers, strays } = matched(messages);
  const out: ChatMessage[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const content = message.content.filter((part) => strays.has(part)).flatMap(asText);
      if (content.length > 0) out.push({ role: "user", content });
      continue;
    }
    out.push(message);
    const calls = answers.get(message);
    if (calls !== undefined)
      out.push({ role: "tool", content: calls.map(({ call, result }) => result ?? missing(call)) });
  }
  return out;
}

/** Finds the results. A result belongs to the nearest preceding call with its id, since some clients use ids again. */
function matched(messages: readonly ChatMessage[]) {
  const answers = new Map<ChatMessage, Answered[]>();
  const unanswered = new Map<string, Answered[]>();
  const strays = new Set<ToolResultPart>();
  for (const message of messages) {
    if (message.role === "tool") {
      for (const part of message.content) {
        const own = unanswered.get(part.callId)?.shift();
        if (own === undefined) strays.add(part);
        else own.result = part;
      }
      continue;
    }
    const calls = callsOf(message).map((call): Answered => ({ call }));
    if (calls.length === 0) continue;
    answers.set(message, calls);
    for (const [id, same] of Map.groupBy(calls, ({ call }) => call.callId)) unanswered.set(id, [...same]);
  }
  return { answers, strays };
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

function missing({ callId, kind }: ToolCallPart): ToolResultPart {
  const content = [{ type: "text" as const, text: "No result was given." }];
  return { type: "tool-result", callId, kind, content, isError: true };
}

function asText(part: ToolResultPart): UserContent[] {
  return [{ type: "text", text: `Result of the tool call ${part.callId}:` }, ...part.content];
}
