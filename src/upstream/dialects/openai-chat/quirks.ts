// Adapts a request to servers of chat completions. Results must directly follow their calls, and some servers have further rules
// (the quirks on provider cards) for cache markers, ids of calls and tool_choice.

import { sha256Hex } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json-object.ts";
import { pairResults } from "../../../chat/pair.ts";
import type { ChatMessage, ChatRequest } from "../../../chat/request.ts";
import type { Quirks } from "../../../vendors/quirks.ts";
import { type CacheForm, inForm } from "../../cache-form.ts";
import { GO_ON } from "../../tool-choice.ts";

/** The maximum length of `user` at OpenAI; Anthropic's clients send much longer ones. */
const USER_CHARS_MAX = 64;

/** The request as this provider accepts it. The original is not changed. */
export function fitToQuirks(chat: ChatRequest, quirks: Quirks, form: CacheForm): ChatRequest {
  const fit: ChatRequest = { ...chat, messages: [...pairResults(chat.messages)] };
  if (chat.user !== undefined && chat.user.length > USER_CHARS_MAX) fit.user = sha256Hex(chat.user);
  Object.assign(fit, inForm(fit, form));
  if (quirks.tool_call_ids === "nine") fit.messages = fit.messages.map(withNineCharIds);
  const choice = chat.toolChoice;
  if (quirks.tool_choice_words === true && (choice?.type === "tool" || choice?.type === "allowed")) {
    // Expresses the choice by a word: only the named tools are sent.
    const names = new Set(choice.type === "tool" ? [choice.name] : choice.names);
    fit.tools = chat.tools.filter((tool) => names.has(tool.name));
    fit.toolChoice = { type: choice.type === "tool" ? "required" : choice.mode };
  }
  return fit;
}

/** The text between results and the user's turn, for servers that require one and refuse empty content. */
const BRIDGE = { role: "assistant", content: "Noted." };

/** The turns with an assistant turn between tool results and a user turn; the same list if none was missing. */
export function bridged(turns: readonly unknown[]): readonly unknown[] {
  const isGap = (turn: unknown, at: number) =>
    at > 0 && roleOf(turns[at - 1]) === "tool" && roleOf(turn) !== "tool" && roleOf(turn) !== "assistant";
  return turns.some(isGap) ? turns.flatMap((turn, at) => (isGap(turn, at) ? [BRIDGE, turn] : [turn])) : turns;
}

/** The turns with a final user turn, for models that cannot continue their own; the same list if none was needed. */
export function askedOn(turns: readonly unknown[]): readonly unknown[] {
  const last = turns.at(-1);
  const calls = isRecord(last) && Array.isArray(last["tool_calls"]) && last["tool_calls"].length > 0;
  return roleOf(last) === "assistant" && !calls ? [...turns, { role: "user", content: GO_ON }] : turns;
}

/** The turns with `system` in place of `developer`, for servers that know only the former; the same list if none was there. */
export function withoutDeveloper(turns: readonly unknown[]): readonly unknown[] {
  const isDevelopers = (turn: unknown) => roleOf(turn) === "developer";
  return turns.some(isDevelopers)
    ? turns.map((turn) => (isDevelopers(turn) ? { ...(turn as object), role: "system" } : turn))
    : turns;
}

/** The schema of an answer as an instruction, for servers that only know `json_object`. */
export function schemaInWords(schema: unknown): { role: "system"; content: string } {
  const content = `Answer with one JSON object that follows this JSON Schema:\n${JSON.stringify(schema)}`;
  return { role: "system", content };
}

/** Changes members of a body as the client wrote it, where the server knows less than the protocol has. */
export function fitChatMembers(
  body: Readonly<Record<string, unknown>>,
  edits: Record<string, unknown>,
  { quirks, chat }: { quirks: Quirks; chat: ChatRequest },
): void {
  const format = body["response_format"];
  if (quirks.json_schema === false && isRecord(format) && isRecord(format["json_schema"])) {
    edits["response_format"] = { type: "json_object" };
    const turns = edits["messages"] ?? body["messages"];
    edits["messages"] = [schemaInWords(format["json_schema"]["schema"]), ...(Array.isArray(turns) ? turns : [])];
  }
  const choice = chat.toolChoice;
  if (quirks.tool_choice_words !== true || (choice?.type !== "tool" && choice?.type !== "allowed")) return;
  // Expresses the choice by a word: only the named tools are sent.
  edits["tools"] = toolsNamed(body["tools"], choice.type === "tool" ? [choice.name] : choice.names);
  edits["tool_choice"] = choice.type === "tool" ? "required" : choice.mode;
}

function toolsNamed(tools: unknown, names: readonly string[]): unknown[] {
  const wanted = new Set(names);
  return Array.isArray(tools) ? tools.filter((tool) => wanted.has(toolName(tool))) : [];
}

function toolName(tool: unknown): string {
  const named = isRecord(tool) ? (tool["function"] ?? tool["custom"]) : undefined;
  return isRecord(named) ? String(named["name"]) : "";
}

function roleOf(turn: unknown): unknown {
  return typeof turn === "object" && turn !== null && "role" in turn ? turn.role : undefined;
}

function withNineCharIds(message: ChatMessage): ChatMessage {
  if (message.role === "tool") {
    return { ...message, content: message.content.map((part) => ({ ...part, callId: nine(part.callId) })) };
  }
  if (message.role !== "assistant") return message;
  const content = message.content.map((part) =>
    part.type === "tool-call" ? { ...part, callId: nine(part.callId) } : part,
  );
  return { ...message, content };
}

/** The same for turns as the client wrote them; the same list if every id is valid. */
export function nineCharTurns(turns: readonly unknown[]): readonly unknown[] {
  const fit = turns.map((turn) => {
    if (!isRecord(turn)) return turn;
    const { tool_call_id: result, tool_calls: calls } = turn;
    if (typeof result === "string") return nine(result) === result ? turn : { ...turn, tool_call_id: nine(result) };
    if (!Array.isArray(calls)) return turn;
    const own = calls.map((call: unknown) => {
      const id = isRecord(call) ? call["id"] : undefined;
      return typeof id !== "string" || nine(id) === id ? call : { ...(call as object), id: nine(id) };
    });
    return own.every((call, at) => call === calls[at]) ? turn : { ...turn, tool_calls: own };
  });
  return fit.every((turn, at) => turn === turns[at]) ? turns : fit;
}

/** Nine letters and digits that follow from the id, so that call and result stay linked. */
function nine(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : sha256Hex(id).slice(0, 9);
}
