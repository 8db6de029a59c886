// What becomes of the events of an answer whose texts were changed.

import type { ChatEvent, FinishEvent } from "../../../chat/event.ts";

/** A piece of a text. */
export type Delta = Extract<ChatEvent, { type: "text-delta" | "reasoning-delta" | "tool-delta" }>;
/** The end of a text. */
export type End = Extract<ChatEvent, { type: "text-end" | "reasoning-end" | "tool-end" }>;

/** The end of reasoning whose seals no longer fit it. */
export function withoutSeals({ type, choice, id }: Extract<End, { type: "reasoning-end" }>): End {
  return { type, choice, id };
}

/** The part of a summary of reasoning that a delta belongs to; undefined for other text. */
export function partOf(delta: Delta | undefined): number | undefined {
  return delta?.type === "reasoning-delta" ? delta.summaryIndex : undefined;
}

/** A delta with another text. Log-probabilities are those of the model's own pieces. */
export function withText(delta: Delta, text: string, isSame: boolean): Delta {
  if (isSame) return delta;
  if (delta.type !== "text-delta") return { ...delta, text };
  const { logprobs: _logprobs, ...rest } = delta;
  return { ...rest, text };
}

/** The finish of an answer that was denied. */
export function denialOf({ choice, usage, rawUsage, reasoningRemoved }: FinishEvent): FinishEvent {
  return {
    ...{ type: "finish", choice, reason: "content_filter" },
    ...(usage === undefined ? {} : { usage }),
    ...(rawUsage === undefined ? {} : { rawUsage }),
    ...(reasoningRemoved === undefined ? {} : { reasoningRemoved }),
  } as FinishEvent;
}
