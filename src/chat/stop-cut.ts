// Ends an answer at stop sequences that the upstream does not support: its protocol or model has none, or fewer. Text is only
// held back while it may be the start of a sequence. Only text for the user is examined, not reasoning and tool arguments.

import type { ChatEvent, TextDelta } from "./event.ts";

/** The state of one choice. */
interface Choice {
  /** The end of the open block's text that may be the start of a sequence. */
  held: string;
  /** By the sequence: how many of its first characters the text ends with. */
  readonly begun: number[];
  logprobs: unknown[];
  /** Open blocks, with the event that ends each. */
  open: Map<string, "text-end" | "reasoning-end" | "tool-end">;
  /** The sequence that was met. */
  met?: string;
}

/**
 * A sequence that is looked for in a text piece by piece, so that no character is compared again with each of its own: a client chooses
 * a thousand sequences of thousands of equal characters.
 */
class Sequence {
  readonly text: string;
  /** By a number of first characters, less one: how many of them begin it and also end these. Made as far as it is needed. */
  readonly #ends = [0];

  constructor(text: string) {
    this.text = text;
  }

  /**
   * Goes on with a piece after a text that ended with the first `begun` characters. Returns how many of them the text ends with now, or
   * how long it is if it was met, and the offset in the piece after it.
   */
  follow(piece: string, begun: number): { begun: number; end: number | undefined } {
    const { text } = this;
    let count = begun;
    let at = 0;
    for (; at < piece.length; at++) {
      if (count === 0) {
        at = piece.indexOf(text.charAt(0), at);
        if (at < 0) break;
        count = 1;
      } else {
        const code = piece.charCodeAt(at);
        while (count > 0 && text.charCodeAt(count) !== code) count = this.#fewer(count);
        if (text.charCodeAt(count) === code) count++;
      }
      if (count === text.length) return { begun: count, end: at + 1 };
    }
    return { begun: count, end: undefined };
  }

  /** The next smaller number of first characters that may end a text that ends with so many. */
  #fewer(count: number): number {
    const { text } = this;
    const ends = this.#ends;
    for (let at = ends.length; at < count; at++) {
      let same = ends[at - 1] as number;
      while (same > 0 && text.charCodeAt(at) !== text.charCodeAt(same)) same = ends[same - 1] as number;
      ends.push(text.charCodeAt(at) === text.charCodeAt(same) ? same + 1 : same);
    }
    return ends[count - 1] as number;
  }
}

/** Cuts the events of one answer. */
export class StopCut {
  readonly #stops: readonly Sequence[];
  readonly #single: boolean;
  readonly #choices = new Map<number, Choice>();
  #over = false;

  /** `choices`: the number of choices. */
  constructor(stops: readonly string[], choices: number) {
    this.#stops = stops.filter((stop) => stop !== "").map((stop) => new Sequence(stop));
    this.#single = choices === 1;
  }

  /** Whether the answer was ended here, so that the upstream can be aborted. */
  get over(): boolean {
    return this.#over;
  }

  push(event: ChatEvent, out: ChatEvent[]): void {
    if (this.#over) return;
    if (event.type === "start" || event.type === "error") {
      out.push(event);
      return;
    }
    const choice = this.#choice(event.choice);
    if (choice.met !== undefined) {
      if (event.type === "finish") out.push({ ...event, reason: "stop_sequence", stopSequence: choice.met });
      return;
    }
    switch (event.type) {
      case "text-start":
        choice.open.set(event.id, "text-end");
        break;
      case "reasoning-start":
        choice.open.set(event.id, "reasoning-end");
        break;
      case "tool-start":
        choice.open.set(event.id, "tool-end");
        break;
      case "text-delta":
        this.#text(choice, event, out);
        return;
      case "text-end":
        this.#say(choice, event, choice.held, out);
        choice.held = "";
        choice.begun.fill(0);
        choice.open.delete(event.id);
        break;
      case "reasoning-end":
      case "tool-end":
        choice.open.delete(event.id);
        break;
    }
    out.push(event);
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { held: "", begun: this.#stops.map(() => 0), logprobs: [], open: new Map() };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #text(choice: Choice, event: TextDelta, out: ChatEvent[]): void {
    const text = choice.held + event.text;
    choice.logprobs.push(...(event.logprobs ?? []));
    const met = this.#met(choice, event.text);
    if (met === undefined) {
      const kept = choice.begun.reduce((most, count) => Math.max(most, count), 0);
      choice.held = text.slice(text.length - kept);
      this.#say(choice, event, text.slice(0, text.length - kept), out);
      return;
    }
    this.#say(choice, event, text.slice(0, met.at), out);
    choice.held = "";
    choice.met = met.stop;
    for (const [id, type] of choice.open) out.push({ type, choice: event.choice, id });
    if (!this.#single) return;
    this.#over = true;
    out.push({ type: "finish", choice: event.choice, reason: "stop_sequence", stopSequence: met.stop });
  }

  #say(choice: Choice, event: { choice: number; id: string }, text: string, out: ChatEvent[]): void {
    if (text === "") return;
    const logprobs = choice.logprobs.length > 0 ? { logprobs: choice.logprobs } : {};
    choice.logprobs = [];
    out.push({ type: "text-delta", choice: event.choice, id: event.id, text, ...logprobs });
  }

  /** The first complete sequence, however the text is split, and where it begins; of several the longest. */
  #met({ held, begun }: Choice, piece: string): { at: number; stop: string } | undefined {
    let first: { at: number; end: number; stop: string } | undefined;
    for (const [index, stop] of this.#stops.entries()) {
      const followed = stop.follow(piece, begun[index] as number);
      begun[index] = followed.begun;
      if (followed.end === undefined) continue;
      const end = held.length + followed.end;
      const at = end - stop.text.length;
      if (first === undefined || end < first.end || (end === first.end && at < first.at)) {
        first = { at, end, stop: stop.text };
      }
    }
    return first;
  }
}

/** The events of a whole answer, cut; the same list if nothing is cut. */
export function cutEvents(events: ChatEvent[], stops: readonly string[]): ChatEvent[] {
  if (stops.length === 0) return events;
  // A whole answer has already ended, with its usage.
  const cut = new StopCut(stops, Number.POSITIVE_INFINITY);
  const out: ChatEvent[] = [];
  for (const event of events) cut.push(event, out);
  return out;
}
