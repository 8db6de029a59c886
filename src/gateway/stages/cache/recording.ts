// Records the events of an answer, to give them again. Pieces of one text are joined, since nobody waits for them again.

import { type ChatEvent, lastFinish, type Usage } from "../../../chat/event.ts";

/** Characters of an answer that is kept. A longer one is refused, so that no request waits while it is written. */
export const CACHED_CHARS_MAX = 1024 * 1024;

/** Takes the events of one answer. */
export class Recording {
  #events: ChatEvent[] = [];
  #chars = 0;

  /** Takes an event. */
  push(event: ChatEvent): void {
    if (this.#chars > CACHED_CHARS_MAX) return;
    const last = this.#events.at(-1);
    const joined = last === undefined ? undefined : joinedText(last, event);
    if (joined === undefined) this.#events.push(event);
    else this.#events[this.#events.length - 1] = joined;
    this.#chars += "text" in event ? event.text.length : charsIn(event);
    if (this.#chars > CACHED_CHARS_MAX) this.#events = [];
  }

  /** The complete answer with this usage; undefined if it did not end normally, or is too long. */
  answer(usage: Usage | undefined): readonly ChatEvent[] | undefined {
    const events = this.#events;
    const end = lastFinish(events);
    if (end === undefined || events.some((event) => event.type === "error")) return undefined;
    if (!NORMAL_ENDS.has(end.reason)) return undefined;
    const { costUsd: _cost, ...rest } = usage ?? { inputTokens: 0, outputTokens: 0 };
    return events.map((event) => (event === end ? { ...event, usage: rest } : event));
  }
}

const NORMAL_ENDS: ReadonlySet<string> = new Set(["stop", "stop_sequence", "tool_calls"]);

/** The characters of all texts in a value: a picture or a result of a tool may be as long as any text. */
function charsIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let chars = 0;
  for (const one of Array.isArray(value) ? value : Object.values(value)) chars += charsIn(one);
  return chars;
}

/** Two events as one, if both are pieces of one text. */
function joinedText(last: ChatEvent, event: ChatEvent): ChatEvent | undefined {
  if (last.type !== event.type || !("text" in last) || !("text" in event) || last.id !== event.id) return undefined;
  if (last.choice !== event.choice || "logprobs" in last || "logprobs" in event) return undefined;
  if ("summaryIndex" in last !== "summaryIndex" in event) return undefined;
  if (last.type === "reasoning-delta" && event.type === "reasoning-delta" && last.summaryIndex !== event.summaryIndex) {
    return undefined;
  }
  return { ...last, text: last.text + event.text };
}
