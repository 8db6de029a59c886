// Whole answers that are one text, as many are: their events without the state that other answers need.

import { isRecord } from "../../../base/json-object.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import { asCount, type Loose } from "../loose.ts";
import { geminiUsage } from "./usage.ts";

/** The events of an answer that is one text and ended as usual; undefined for any other. */
export function plainGeminiEvents(answer: Loose): ChatEvent[] | undefined {
  const { candidates, usageMetadata: rawUsage, responseId, modelVersion } = answer;
  if (answer["error"] !== undefined || answer["promptFeedback"] != null) return undefined;
  const only: unknown = Array.isArray(candidates) && candidates.length === 1 ? candidates[0] : undefined;
  if (!isRecord(only) || only["finishReason"] !== "STOP" || only["groundingMetadata"] != null) return undefined;
  const parts = isRecord(only["content"]) ? only["content"]["parts"] : undefined;
  const part: unknown = Array.isArray(parts) && parts.length === 1 ? parts[0] : undefined;
  if (!isRecord(part) || !isRecord(rawUsage) || rawUsage["candidatesTokenCount"] === undefined) return undefined;
  const { text } = part;
  if (typeof text !== "string" || text === "") return undefined;
  for (const name in part) if (name !== "text") return undefined;
  const choice = asCount(only["index"]) ?? 0;
  const usage = geminiUsage(rawUsage);
  const start: Extract<ChatEvent, { type: "start" }> = { type: "start" };
  if (typeof responseId === "string") start.id = responseId;
  if (typeof modelVersion === "string") start.model = modelVersion;
  const finish = { type: "finish", choice, reason: "stop", rawReason: "STOP" } as const;
  return [
    start,
    { type: "text-start", choice, id: "b0" },
    { type: "text-delta", choice, id: "b0", text },
    { type: "text-end", choice, id: "b0" },
    usage === undefined ? finish : { ...finish, usage, rawUsage },
  ];
}
