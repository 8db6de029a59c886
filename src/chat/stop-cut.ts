// Ends an answer at stop sequences that the upstream does not support: its protocol or model has none, or fewer. Text is only
// held back while it may be the start of a sequence. Only text for the user is examined, not reasoning and tool arguments.

import type { ChatEvent, TextDelta } from "./event.ts";

/** The state of one choice. */
interface Choice {
  /** The end of the open block's text that may be the start of a sequence. */
  held: string;
  logprobs: unknown[];
  /** Open blocks, with the event that ends each. */
  open: Map<string, "text-end" | "reasoning-end" | "tool-end">;
  /** The sequence that was met. */
  met?: string;
}

/** Cuts the events of one answer. */
export class StopCut {
  readonly #stops: readonly string[];
  readonly #single: boolean;
  readonly #choices = new Map<number, Choice>();
  #over = false;

  /** `choices`: the number of choices. */
  constructor(stops: readonly string[], choices: number) {
    this.#stops = stops.filter((stop) => stop !== "");
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
      choice = { held: "", logprobs: [], open: new Map() };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #text(choice: Choice, event: TextDelta, out: ChatEvent[]): void {
    const text = choice.held + event.text;
    choice.logprobs.push(...(event.logprobs ?? []));
    const met = this.#first(text);
    if (met === undefined) {
      const kept = this.#tail(text);
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

  /** The first complete sequence, however the text is split; of several the longest. */
  #first(text: string): { at: number; stop: string } | undefined {
    let first: { at: number; end: number; stop: string } | undefined;
    for (const stop of this.#stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      const end = at + stop.length;
      if (first === undefined || end < first.end || (end === first.end && at < first.at)) first = { at, end, stop };
    }
    return first;
  }

  /** Characters at the end of the text that may be the start of a sequence. */
  #tail(text: string): number {
    let longest = 0;
    for (const stop of this.#stops) {
      const first = stop.charAt(0);
      const from = Math.max(0, text.length - stop.length + 1);
      for (
        let at = text.indexOf(first, from);
        at >= 0 && text.length - at > longest;
        at = text.indexOf(first, at + 1)
      ) {
        if (stop.startsWith(text.slice(at))) longest = text.length - at;
      }
    }
    return longest;
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
