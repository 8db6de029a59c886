// The inputs of earlier tool calls for protocols that write them as objects, where the neutral form has text. Those of a long history
// take tens of milliseconds to parse, so that they are parsed before the request is written, which is one step.

import { isRecord } from "../base/json-object.ts";
import { repairedValue } from "../base/json-repair.ts";
import type { ChatMessage, ToolCallPart } from "../chat/request.ts";

/** What was parsed before, until it is taken. */
const parsed = new WeakMap<ToolCallPart, { readonly value: unknown }>();

/** The input of a call, which must be an object. Invalid arguments in earlier turns are repaired, or sent as text. */
export function callInput(part: ToolCallPart): Readonly<Record<string, unknown>> {
  const before = parsed.get(part);
  parsed.delete(part);
  const value = before === undefined ? repairedValue(part.arguments) : before.value;
  return isRecord(value) ? value : { arguments: part.arguments };
}

/** Parses the inputs of all calls, and calls `pause` after each. */
export async function parseCallInputs(
  messages: readonly ChatMessage[],
  pause: () => Promise<void> | undefined,
): Promise<void> {
  for (const { role, content } of messages) {
    if (role !== "assistant") continue;
    for (const part of content) {
      if (part.type !== "tool-call") continue;
      parsed.set(part, { value: repairedValue(part.arguments) });
      const wait = pause();
      if (wait !== undefined) await wait;
    }
  }
}
