// Leads every text of an answer through the guardrails.

import type { ChatEvent } from "../../../chat/event.ts";
import type { AnswerStop, Hearing } from "../../centre/stage.ts";
import { type Delta, denialOf, type End, partOf, withoutSeals, withText } from "./answer-events.ts";
import { scanned, type TextFlow } from "./scan.ts";
import { Denied, type GuardSession } from "./session.ts";
import { mapTexts } from "./texts.ts";

type Start = Extract<ChatEvent, { type: "text-start" | "reasoning-start" | "tool-start" }>;

/** A block under way. */
interface Block {
  readonly start: Start;
  flow: TextFlow;
  /** The last delta, whose form the rest of the text takes. */
  last: Delta | undefined;
  /** What reasoning was and became: a signature fits one text only. */
  before: string;
  after: string;
  /** The events of a call that is looked through as a whole. */
  readonly held: ChatEvent[] | undefined;
}

/** What becomes of the answer. */
interface AnswerOptions {
  /** Whether the answer is a stream with one choice: nothing more of it is of use once it was denied. */
  readonly stopsAtDenial: boolean;
  /** The functions that the gateway runs. What it asks of others has no values of the client. */
  readonly ownTools: ReadonlySet<string> | undefined;
  /** Called at the end of each choice, and when one is denied. */
  ended(): void;
  /** The error with which a denied answer fails; absent: it ends before what was denied, and the client sees why. */
  refused?: ((denied: Denied) => Error) | undefined;
}

/** Creates what takes the events of an answer. */
export function guardedAnswer(session: GuardSession, options: AnswerOptions): Hearing {
  const answer = new GuardedAnswer(session, options);
  return {
    hear(event) {
      const out = answer.hear(event);
      if ("finish" in out || event.type === "finish" || event.type === "error") options.ended();
      return out;
    },
  };
}

class GuardedAnswer {
  readonly #session: GuardSession;
  readonly #options: AnswerOptions;
  readonly #blocks = new Map<string, Block>();
  readonly #denied = new Set<number>();

  constructor(session: GuardSession, options: AnswerOptions) {
    this.#session = session;
    this.#options = options;
  }

  hear(event: ChatEvent): readonly ChatEvent[] | AnswerStop {
    if (event.type === "start" || event.type === "error") return [event];
    if (this.#denied.has(event.choice)) return event.type === "finish" ? [denialOf(event)] : [];
    try {
      return this.#passed(event);
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      const { refused, stopsAtDenial } = this.#options;
      if (refused !== undefined) throw refused(error);
      this.#denied.add(event.choice);
      if (stopsAtDenial && event.type !== "finish") return { finish: "content_filter" };
      return event.type === "finish" ? [...this.#closed(event.choice), denialOf(event)] : this.#closed(event.choice);
    }
  }

  #passed(event: Exclude<ChatEvent, { type: "start" | "error" }>): readonly ChatEvent[] {
    switch (event.type) {
      case "text-start":
      case "reasoning-start":
      case "tool-start":
        return this.#begin(event);
      case "text-delta":
      case "reasoning-delta":
      case "tool-delta":
        return this.#continue(event);
      case "text-end":
      case "reasoning-end":
      case "tool-end":
        return this.#end(event);
      case "opaque":
        return [{ ...event, value: this.#value(event.value) }];
      case "image":
        // The block may have a text beside the picture, such as the prompt from which it was drawn.
        return [event.value === undefined ? event : { ...event, value: this.#value(event.value) }];
      // The gateway's tools stand above the guardrails.
      case "server-tool-start":
      case "server-tool-end":
      case "server-tool-result":
      case "citation":
      case "finish":
        return [event];
    }
  }

  #begin(start: Start): readonly ChatEvent[] {
    const isCall = start.type === "tool-start";
    // Half a call is of no use to a client, so that none of it leaves before all of it was looked through.
    const held = isCall && this.#session.guardsOutput ? [start] : undefined;
    this.#blocks.set(start.id, {
      start,
      flow: this.#flow(start, undefined),
      last: undefined,
      before: "",
      after: "",
      held,
    });
    return held === undefined ? [start] : [];
  }

  #flow(start: Start, delta: Delta | undefined): TextFlow {
    // Text that a signature may be bound to goes to the client as it came: it comes back, and must still fit.
    const isOwn =
      start.type === "reasoning-start" && (delta as { summaryIndex?: number } | undefined)?.summaryIndex === undefined;
    const isCall = start.type === "tool-start";
    const leaves = isCall && this.#options.ownTools?.has(start.name) === true;
    return this.#session.output({ restores: !isOwn && !leaves, isJson: isCall && start.kind === "function" });
  }

  #continue(delta: Delta): readonly ChatEvent[] {
    const block = this.#blocks.get(delta.id);
    if (block === undefined) return [delta];
    const out: ChatEvent[] = [];
    if (delta.type === "reasoning-delta" && partOf(block.last) !== delta.summaryIndex) {
      // Each part of a summary is a text of its own.
      out.push(...this.#rest(block));
      block.flow = this.#flow(block.start, delta);
    }
    block.last = delta;
    const text = block.flow.push(delta.text);
    if (delta.type === "reasoning-delta") block.before += delta.text;
    block.after += delta.type === "reasoning-delta" ? text : "";
    if (text !== "") out.push(withText(delta, text, text === delta.text));
    return this.#given(block, out);
  }

  #end(end: End): readonly ChatEvent[] {
    const block = this.#blocks.get(end.id);
    if (block === undefined) return [end];
    const out: ChatEvent[] = [...this.#rest(block)];
    this.#blocks.delete(end.id);
    if (end.type === "reasoning-end") return [...out, this.#isSame(block) ? end : withoutSeals(end)];
    if (end.type === "text-end" && end.annotations !== undefined) {
      out.push({ ...end, annotations: this.#value(end.annotations) });
    } else out.push(end);
    return block.held === undefined ? out : [...block.held, ...out];
  }

  #given(block: Block, events: readonly ChatEvent[]): readonly ChatEvent[] {
    if (block.held === undefined) return events;
    block.held.push(...events);
    return [];
  }

  #isSame({ before, after, last }: Block): boolean {
    // Summaries are bound to nothing.
    return before === after || partOf(last) !== undefined;
  }

  #rest(block: Block): readonly ChatEvent[] {
    const { flow, last } = block;
    const rest = flow.end();
    if (last?.type === "reasoning-delta") block.after += rest;
    return rest === "" || last === undefined ? [] : [withText(last, rest, false)];
  }

  #value<T>(value: T): T {
    const map = {
      text: (text: string) => scanned(this.#session.output(), text),
      json: (text: string) => scanned(this.#session.output({ isJson: true }), text),
      unread: () => undefined,
      leftOut: () => undefined,
    };
    return this.#session.readable("output", value, () => mapTexts(value, map) as T);
  }

  /** Ends the blocks that the client has seen begin. */
  #closed(choice: number): ChatEvent[] {
    const out: ChatEvent[] = [];
    for (const [id, { start, held }] of this.#blocks) {
      if (start.choice !== choice) continue;
      this.#blocks.delete(id);
      if (held !== undefined) continue;
      const type = start.type.replace("start", "end") as End["type"];
      out.push({ type, choice, id });
    }
    return out;
  }
}
