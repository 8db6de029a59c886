// Whole answers that are one text, as nearly all are: their events without the state that other answers need.

import { isRecord } from "../../../base/json-object.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import { failedEnd, openaiFinish, openaiUsage } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** Top-level members that are kept with the answer. */
const ENVELOPE = ["system_fingerprint", "service_tier", "citations", "search_results"];

/** The event with which an answer begins. */
export function startEvent(chunk: Json): ChatEvent {
  const start: Extract<ChatEvent, { type: "start" }> = { type: "start" };
  if (typeof chunk["id"] === "string") start.id = chunk["id"];
  if (typeof chunk["model"] === "string") start.model = chunk["model"];
  if (typeof chunk["created"] === "number") start.createdSeconds = chunk["created"];
  let raw: Record<string, unknown> | undefined;
  for (const name of ENVELOPE) {
    if (chunk[name] == null) continue;
    raw ??= {};
    raw[name] = chunk[name];
  }
  if (raw !== undefined) start.raw = raw;
  return start;
}

/** Members of a message that the reader of other answers knows. */
const OTHERS = [
  "reasoning_details",
  "reasoning_content",
  "reasoning",
  "annotations",
  "refusal",
  "tool_calls",
  "images",
  "function_call",
];

/** The events of an answer that is one text and says how it ended; undefined for any other. */
export function plainEvents(body: unknown): ChatEvent[] | undefined {
  if (!isRecord(body) || body["error"] != null || body["x_groq"] != null) return undefined;
  if (!isEmpty(body["search_results"]) || !isEmpty(body["citations"])) return undefined;
  const { choices, usage: rawUsage } = body;
  const only: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isRecord(only) || only["logprobs"] != null || only["usage"] != null) return undefined;
  const { message, finish_reason: reason } = only;
  if (!isRecord(message) || typeof reason !== "string" || reason === "") return undefined;
  const text = message["content"];
  if (typeof text !== "string" || text === "") return undefined;
  for (const name of OTHERS) if (!isEmpty(message[name])) return undefined;
  if (failedEnd(reason, only["error"]) !== undefined) return undefined;
  const choice = typeof only["index"] === "number" ? only["index"] : 0;
  const usage = openaiUsage(rawUsage, body);
  const finish = { type: "finish", choice, reason: openaiFinish(reason, false), rawReason: reason } as const;
  return [
    startEvent(body),
    { type: "text-start", choice, id: "b0" },
    { type: "text-delta", choice, id: "b0", text },
    { type: "text-end", choice, id: "b0" },
    usage === undefined ? finish : { ...finish, usage, rawUsage },
  ];
}

function isEmpty(value: unknown): boolean {
  return value == null || value === "" || (Array.isArray(value) && value.length === 0);
}
