// Finds out from the history of a request whether an agent goes round in circles: how often its last tool calls are the same.

import { inOneOrder } from "../../../base/json-object.ts";
import type { ChatMessage, ToolCallPart } from "../../../chat/request.ts";

/** The most calls that a round of a loop consists of. */
const CYCLE_MAX = 3;
/** Beyond this length of arguments in all, they are compared as they are written. */
const CANONICAL_CHARS_MAX = 1_000_000;

/**
 * How often in a row the last call, or the last round of two or three calls, was made, counted up to `most`. Calls are the same if
 * their names and arguments are. A message of a person begins anew, since they have seen what was done; one that says the same as the
 * message before it is the agent's own.
 */
export function repeatsOf(messages: readonly ChatMessage[], most: number): number {
  const calls = lastCalls(messages, CYCLE_MAX * most);
  const same = comparison();
  let found = 0;
  for (let cycle = 1; cycle <= CYCLE_MAX; cycle++) {
    let equal = 0;
    while (equal + cycle < calls.length && same(calls[equal]!, calls[equal + cycle]!)) equal++;
    found = Math.max(found, Math.min(Math.floor(equal / cycle) + 1, calls.length, most));
  }
  return found;
}

/** The last tool calls, the latest first. */
function lastCalls(messages: readonly ChatMessage[], count: number): ToolCallPart[] {
  const calls: ToolCallPart[] = [];
  const persons = personsIn(messages);
  for (let at = messages.length - 1; at >= 0 && calls.length < count; at--) {
    const message = messages[at]!;
    if (message.role === "assistant") {
      for (const part of message.content.toReversed()) if (part.type === "tool-call") calls.push(part);
    } else if (persons[at] === true) {
      let before = at - 1;
      while (persons[before] === false) before--;
      if (before === -1 || textOf(messages[before]!) !== textOf(message)) break;
    }
  }
  return calls.slice(0, count);
}

/**
 * Which messages a person may have written. What follows a result within a turn is the agent's own, such as a reminder. A conversation
 * may have thousands of either, so that none is looked for from each.
 */
function personsIn(messages: readonly ChatMessage[]): boolean[] {
  let followsResult = false;
  return messages.map(({ role }) => {
    if (role === "tool" || role === "assistant") followsResult = role === "tool";
    return role === "user" && !followsResult;
  });
}

function textOf({ content }: ChatMessage): string {
  return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\u0000");
}

function comparison(): (a: ToolCallPart, b: ToolCallPart) => boolean {
  const known = new Map<ToolCallPart, string>();
  let chars = 0;
  const canonical = (call: ToolCallPart): string => {
    let text = known.get(call);
    if (text === undefined) {
      chars += call.arguments.length;
      text = chars > CANONICAL_CHARS_MAX ? call.arguments : canonicalJson(call.arguments);
      known.set(call, text);
    }
    return text;
  };
  return (a, b) =>
    a.name === b.name && a.namespace === b.namespace && (a.arguments === b.arguments || canonical(a) === canonical(b));
}

/** The same text for arguments that differ only in spaces and in the order of members. */
function canonicalJson(text: string): string {
  try {
    return inOneOrder(JSON.parse(text));
  } catch {
    return text.trim();
  }
}
