// One stage's place on the way of an answer: what it makes of the events, what it holds back until the answer is whole, and how
// the rounds that it asks for become one answer.

import type { ChatEvent, FinishEvent, Usage } from "../../../chat/event.ts";
import { Folder } from "../../../chat/fold.ts";
import { addedUsage } from "../../../chat/usage.ts";
import type { AnswerStop, ChatTurn, Hearing, Round, StageRun } from "../stage.ts";

/** What is known of a round beside its events. */
export type RoundFacts = Pick<Round, "index" | "route" | "usage">;

const PASSES: Hearing = { hear: (event) => [event] };

export class Layer {
  /** Whether the stage ended the answer; nothing more passes. */
  isStopped = false;
  readonly #hearing: Hearing;
  /** The usage of an answer that is stopped before its finish. */
  readonly #usage: () => Usage | undefined;
  /** The blocks that were begun and not ended, with the event that ends each. */
  readonly #open = new Map<string, ChatEvent>();
  readonly #choices = new Set<number>();
  /** Finishes that wait until the answer is whole. */
  #finishes: FinishEvent[] = [];
  /** The message of the round, for the stage that may ask for another one. */
  #folder: Folder | undefined;
  /** How many further rounds the stage has asked for. */
  #rounds = 0;
  /** The usage of the rounds before this one. */
  #before: Usage | undefined;

  constructor(run: StageRun, turn: ChatTurn, usage: () => Usage | undefined) {
    this.#hearing = run.hears?.(turn) ?? PASSES;
    this.#usage = usage;
    this.#folder = run.next === undefined ? undefined : new Folder();
  }

  /** Takes events from the stages below, and returns those for the stages above. */
  pass(events: readonly ChatEvent[]): ChatEvent[] {
    const out: ChatEvent[] = [];
    const holdsFinish = this.#folder !== undefined || this.#hearing.release !== undefined;
    for (const given of events) {
      if (this.isStopped) break;
      const event = this.#ofRound(given);
      if (event === undefined) continue;
      this.#folder?.push(event);
      if (event.type === "finish" && holdsFinish) this.#finishes.push(event);
      else this.#let(this.#hearing.hear(event), out);
    }
    return out;
  }

  /** Sends an event of the stage's own. */
  emit(event: ChatEvent): ChatEvent[] {
    const out: ChatEvent[] = [];
    if (!this.isStopped) this.#let([event], out);
    return out;
  }

  /** What was held for a check of the whole answer. */
  async release(signal: AbortSignal): Promise<ChatEvent[]> {
    const out: ChatEvent[] = [];
    const { release } = this.#hearing;
    if (this.isStopped || release === undefined) return out;
    this.#let(await release.call(this.#hearing, { finish: this.#finishes.at(-1), signal }), out);
    return out;
  }

  /** The round as the stage that may ask for another one sees it. */
  round(facts: RoundFacts): Round {
    const message = this.#folder?.result().choices[0];
    if (message === undefined) throw new Error("Only a stage that asks for rounds sees them.");
    const usage = facts.usage ?? this.#finishes.at(-1)?.usage;
    return { ...facts, usage, message, calls: message.blocks.filter((block) => block.type === "tool-call") };
  }

  /** The end of a round after which the stage asks for another one: its finish stays away, its usage is added to the last one's. */
  again(): void {
    for (const { usage } of this.#finishes) this.#before = addedUsage(this.#before, usage);
    this.#finishes = [];
    this.#rounds++;
    this.#folder = new Folder();
  }

  /** The finishes that were held back. */
  finish(): ChatEvent[] {
    const out: ChatEvent[] = [];
    const finishes = this.#finishes;
    this.#finishes = [];
    for (const event of finishes) {
      if (!this.isStopped) this.#let(this.#hearing.hear(this.#withAllUsage(event)), out);
    }
    return out;
  }

  /** A finish with the usage of all rounds. The provider's own figures are left out, as they are those of one. */
  #withAllUsage({ rawUsage, ...event }: FinishEvent): FinishEvent {
    if (this.#before === undefined) return rawUsage === undefined ? event : { ...event, rawUsage };
    const usage = event.usage && addedUsage(this.#before, event.usage);
    return usage === undefined ? event : { ...event, usage };
  }

  /** An event of a further round as a part of one answer; undefined for a further start. */
  #ofRound(event: ChatEvent): ChatEvent | undefined {
    if (this.#rounds === 0) return event;
    if (event.type === "start") return undefined;
    return "id" in event && event.id !== undefined ? { ...event, id: `${this.#rounds}.${event.id}` } : event;
  }

  #let(made: readonly ChatEvent[] | AnswerStop, out: ChatEvent[]): void {
    if ("finish" in made) {
      this.#stop(made, out);
      return;
    }
    for (const event of made) {
      this.#note(event);
      out.push(event);
    }
  }

  #note(event: ChatEvent): void {
    if (event.type === "start" || event.type === "error") return;
    const { choice } = event;
    this.#choices.add(choice);
    switch (event.type) {
      case "text-start":
        this.#open.set(event.id, { type: "text-end", choice, id: event.id });
        break;
      case "reasoning-start":
        this.#open.set(event.id, { type: "reasoning-end", choice, id: event.id });
        break;
      case "tool-start":
        this.#open.set(event.id, { type: "tool-end", choice, id: event.id });
        break;
      case "server-tool-start":
        this.#open.set(event.id, { type: "server-tool-end", choice, id: event.id, input: {} });
        break;
      case "server-tool-end":
      case "text-end":
      case "reasoning-end":
      case "tool-end":
        this.#open.delete(event.id);
        break;
    }
  }

  #stop({ finish, rawReason }: AnswerStop, out: ChatEvent[]): void {
    this.isStopped = true;
    out.push(...this.#open.values());
    const choices = this.#choices.size === 0 ? [0] : [...this.#choices];
    const told = this.#finishes.findLast(({ usage }) => usage !== undefined)?.usage ?? this.#usage();
    const usage = told === undefined ? this.#before : addedUsage(this.#before, told);
    for (const choice of choices) {
      const isLast = choice === choices.at(-1);
      out.push({
        type: "finish",
        choice,
        reason: finish,
        ...(rawReason === undefined ? {} : { rawReason }),
        ...(isLast && usage !== undefined ? { usage } : {}),
      });
    }
  }
}
