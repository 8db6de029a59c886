// An answer that is judged as a whole: all of it is held until then.

import type { ChatEvent } from "../../../chat/event.ts";
import type { AnswerEnd, Hearing } from "../../centre/stage.ts";
import { type Delta, denialOf, partOf, withoutSeals, withText } from "./answer-events.ts";
import type { PassingText } from "./judging.ts";
import { Denied, type GuardSession } from "./session.ts";
import { mapTexts } from "./texts.ts";

interface HeldOptions {
  /** The functions that the gateway runs. What it asks of others has no values of the client. */
  readonly ownTools: ReadonlySet<string> | undefined;
  /** Called at the end of each choice. */
  ended(): void;
  /** The error with which a denied answer fails; absent: it ends without what was held. */
  refused?: ((denied: Denied) => Error) | undefined;
}

/** Creates what takes the events of an answer. */
export function heldAnswer(session: GuardSession, { ownTools, ended, refused }: HeldOptions): Hearing {
  const held: ChatEvent[] = [];
  let isDenied = false;
  return {
    hear(event) {
      if (event.type === "finish" || event.type === "error") ended();
      if (event.type === "finish") return [isDenied ? denialOf(event) : event];
      if (event.type === "start" || event.type === "error") return [event];
      held.push(event);
      return [];
    },
    async release(end) {
      try {
        return await new HeldAnswer(session, held, { ...end, ownTools }).released();
      } catch (error) {
        if (!(error instanceof Denied)) throw error;
        if (refused !== undefined) throw refused(error);
        isDenied = true;
        return [];
      }
    },
  };
}

/** One text of a block, with the events that say it. */
interface Said {
  readonly passing: PassingText;
  readonly before: string;
  readonly deltas: readonly [Delta, ...Delta[]];
}

/** How an answer ended, and which calls of it are the gateway's. */
interface HeldEnd extends AnswerEnd, Pick<HeldOptions, "ownTools"> {}

class HeldAnswer {
  readonly #session: GuardSession;
  readonly #end: HeldEnd;
  readonly #events: readonly ChatEvent[];
  readonly #passing: PassingText[] = [];
  /** By the first delta of each text. */
  readonly #said = new Map<ChatEvent, Said>();
  /** The texts of events that have them elsewhere, in their order. */
  readonly #within = new Map<ChatEvent, PassingText[]>();
  /** The blocks of reasoning whose text is another one. */
  readonly #changed = new Set<string>();
  /** The calls that the gateway runs. */
  readonly #own = new Set<string>();

  constructor(session: GuardSession, events: readonly ChatEvent[], end: HeldEnd) {
    this.#session = session;
    this.#events = events;
    this.#end = end;
    this.#collect();
  }

  /** The events with their texts as the guardrails let them pass. Throws `Denied`. */
  async released(): Promise<readonly ChatEvent[]> {
    await this.#session.pass("output", this.#passing, this.#end.signal);
    return this.#events.flatMap((event) => this.#rewritten(event));
  }

  #collect(): void {
    const isJson = new Set<string>();
    const isInterim = this.#isInterim();
    const latest = new Map<string, { part: number | undefined; deltas: [Delta, ...Delta[]] }>();
    for (const event of this.#events) {
      if (event.type === "tool-start" && event.kind === "function") isJson.add(event.id);
      if (event.type === "tool-start" && this.#isOwn(event)) this.#own.add(event.id);
      if (!isDelta(event)) {
        this.#within.set(event, this.#textsWithin(event));
        continue;
      }
      const last = latest.get(event.id);
      // Each part of a summary is a text of its own.
      if (last !== undefined && last.part === partOf(event)) last.deltas.push(event);
      else latest.set(event.id, { part: partOf(event), deltas: this.#begun(event) });
    }
    for (const { deltas } of this.#all) {
      const [{ type, choice, id }] = deltas;
      const text = deltas.map((delta) => delta.text).join("");
      const kind = type === "reasoning-delta" ? "reasoning" : type === "tool-delta" ? "arguments" : "text";
      const passing: PassingText = { text, kind, choice, isInterim, isJson: isJson.has(id) };
      this.#passing.push(passing);
      this.#said.set(deltas[0], { passing, before: text, deltas });
    }
  }

  #isOwn({ kind, name }: Extract<ChatEvent, { type: "tool-start" }>): boolean {
    return kind === "function" && this.#end.ownTools?.has(name) === true;
  }

  /** Whether another round follows, with what the gateway's tools give. */
  #isInterim(): boolean {
    const calls = this.#events.filter((event) => event.type === "tool-start");
    return this.#end.finish?.reason === "tool_calls" && calls.length > 0 && calls.every((call) => this.#isOwn(call));
  }

  readonly #all: { readonly deltas: [Delta, ...Delta[]] }[] = [];

  #begun(delta: Delta): [Delta, ...Delta[]] {
    const deltas: [Delta, ...Delta[]] = [delta];
    this.#all.push({ deltas });
    return deltas;
  }

  #textsWithin(event: ChatEvent): PassingText[] {
    const texts: PassingText[] = [];
    const { choice = 0 } = event as { choice?: number };
    const add = (isJson: boolean) => (text: string) => {
      texts.push({ text, kind: isJson ? "arguments" : "text", choice, isJson });
      return text;
    };
    this.#session.readable("output", event, () => this.#mapped(event, add(false), add(true)));
    this.#passing.push(...texts);
    return texts;
  }

  /** An event with the texts that it has beside those of deltas. */
  #mapped(event: ChatEvent, text: (value: string) => string, json: (value: string) => string): ChatEvent {
    const map = { text, json, unread: () => undefined, leftOut: () => undefined };
    if (event.type === "opaque") return { ...event, value: mapTexts(event.value, map) as typeof event.value };
    if (event.type !== "text-end" || event.annotations === undefined) return event;
    return { ...event, annotations: mapTexts(event.annotations, map) as typeof event.annotations };
  }

  #rewritten(event: ChatEvent): readonly ChatEvent[] {
    if (isDelta(event)) return this.#ofDelta(event);
    const texts = this.#within.get(event) ?? [];
    let at = 0;
    const next = () => {
      const { text = "", isJson = false } = texts[at++] ?? {};
      return this.#session.restored(text, isJson);
    };
    const mapped = texts.length === 0 ? event : this.#mapped(event, next, next);
    return [mapped.type === "reasoning-end" && this.#changed.has(mapped.id) ? withoutSeals(mapped) : mapped];
  }

  #ofDelta(event: Delta): readonly ChatEvent[] {
    const waiting = this.#said.get(event);
    if (waiting === undefined) return [];
    const { passing, before, deltas } = waiting;
    const isBound = event.type === "reasoning-delta" && event.summaryIndex === undefined;
    // Text that a signature may be bound to goes to the client as it came: it comes back, and must still fit.
    const text =
      isBound || this.#own.has(event.id) ? passing.text : this.#session.restored(passing.text, passing.isJson);
    if (text === before) return deltas;
    if (isBound) this.#changed.add(event.id);
    return text === "" ? [] : [withText(event, text, false)];
  }
}

function isDelta(event: ChatEvent): event is Delta {
  return event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-delta";
}
