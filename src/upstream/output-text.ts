// The output of an answer, which is kept in case the upstream reports no usage. Its length is limited, and appending is cheap.

import type { ChatEvent, Usage } from "../chat/event.ts";

/** Text beyond this length is dropped; counts of longer answers are extrapolated. */
const CHARS_KEPT_MAX = 512 * 1024;
/**
 * The pieces of a stream are cut from what arrived from the network, and each keeps all of that: so they become one string when there
 * are a few, before garbage collections take them for things that last.
 */
const JOINED_PIECES = 8;
/** So many of these strings become one in turn. */
const JOINED_STRINGS = 16;

/** Collects output text. */
export class OutputText {
  readonly #joined: string[] = [];
  #strings: string[] = [];
  #pieces: string[] = [];
  #chars = 0;
  #pictures = 0;

  add(piece: string): void {
    const isFull = this.#chars >= CHARS_KEPT_MAX;
    this.#chars += piece.length;
    if (!isFull && this.#pieces.push(piece) >= JOINED_PIECES) this.#join();
  }

  #join(): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    if (this.#strings.push(pieces.join("")) < JOINED_STRINGS) return;
    this.#joined.push(this.#strings.join(""));
    this.#strings = [];
  }

  /** Adds an event of the answer, unless it is a delta, whose text is added on its own. */
  addEvent(event: ChatEvent): void {
    if (event.type === "tool-start") this.add(event.name);
    else if (event.type === "image" || (event.type === "opaque" && isPicture(event.value))) this.addPictures(1);
  }

  addPictures(count: number): void {
    this.#pictures += count;
  }

  get pictures(): number {
    return this.#pictures;
  }

  /** Grows with everything that is added. */
  get written(): number {
    return this.#chars + this.#pictures;
  }

  /** The number of all characters that were added, including dropped ones. */
  get chars(): number {
    return this.#chars;
  }

  /** The kept text. */
  toString(): string {
    return [...this.#joined, ...this.#strings, ...this.#pieces].join("");
  }
}

/** Whether a block of an answer is a picture: an item of the Responses API, or a part of Gemini's protocol. */
export function isPicture(block: Readonly<Record<string, unknown>>): boolean {
  const { type, inlineData } = block as { type?: unknown; inlineData?: { mimeType?: unknown } | null };
  return type === "image_generation_call" || String(inlineData?.mimeType ?? "").startsWith("image/");
}

/** The output of a whole answer. */
export function writtenOutput(events: readonly ChatEvent[]): OutputText {
  const output = new OutputText();
  for (const event of events) {
    if ("text" in event) output.add(event.text);
    else output.addEvent(event);
  }
  return output;
}

/** The events of a whole answer with its settled usage. */
export function withUsage(events: readonly ChatEvent[], usage: Usage): ChatEvent[] {
  const last = events.findLastIndex(({ type }) => type === "finish");
  const finish = events[last];
  if (finish?.type === "finish" && finish.usage === usage) return events as ChatEvent[];
  return events.map((event, at) => (at === last && event.type === "finish" ? { ...event, usage } : event));
}
