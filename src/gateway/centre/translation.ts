// Translates a stream: upstream frames become neutral events, and these become the client's frames, in one pass. It has the same
// interface as the relay of unchanged frames, so that the code that moves bytes need not distinguish the two.

import type { ErrorBody } from "../../base/errors.ts";
import { type AnswerFault, afterContent } from "../../chat/answer-fault.ts";
import type { ChatEvent, ReasoningDelta, TextDelta, Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { StopCut } from "../../chat/stop-cut.ts";
import { ToolGuard } from "../../chat/tool-guard.ts";
import { type NameRules, ToolRestorer } from "../../chat/tools.ts";
import type { EventReader, FrameRelay } from "../../upstream/dialect.ts";
import type { OutputText } from "../../upstream/output-text.ts";
import { type EventSink, StreamReader } from "../../upstream/plain-frames.ts";
import { RelayedUsage } from "../../upstream/relayed-usage.ts";
import type { EventWriter, TextSurroundings } from "../../wire/format.ts";

export interface TranslationOptions {
  reader: EventReader;
  writer: EventWriter;
  request: ChatRequest;
  requestId: string;
  /** An event that is sent to the client before anything from the upstream. */
  opening?: ChatEvent | undefined;
  /** Takes the reasoning and calls of the answer. */
  notes?: { push(event: ChatEvent): void } | undefined;
  /** Decides the usage of the answer. */
  settle(told: Usage | undefined, output: OutputText): Usage;
  /** The error for the client. */
  tell(fault: AnswerFault): ErrorBody;
  /** The upstream's rules for the names of tools. */
  toolNames?: NameRules | undefined;
  /** Stop sequences that the upstream does not support, so that the gateway applies them. */
  cutAt?: readonly string[] | undefined;
}

export class Translation implements FrameRelay, EventSink {
  readonly #options: TranslationOptions;
  readonly #guard = new ToolGuard();
  readonly #restorer: ToolRestorer | undefined;
  readonly #cut: StopCut | undefined;
  readonly #output: OutputText;
  readonly #usage: RelayedUsage;
  #opening: ChatEvent | undefined;
  readonly #reader: StreamReader;
  /** What was written since the last call. */
  #out = "";
  /** What the writer would write around the text of a repeated event; null if it has to be asked for each. */
  #around: TextSurroundings | null | undefined;
  #guarded: ChatEvent[] = [];
  #restored: ChatEvent[] = [];
  #choices = new Set<number>();
  #finishes: Extract<ChatEvent, { type: "finish" }>[] = [];
  #fault: AnswerFault | undefined;
  #ended = false;
  #committed = false;

  constructor(options: TranslationOptions) {
    this.#options = options;
    this.#usage = new RelayedUsage(options);
    this.#output = this.#usage.output;
    this.#opening = options.opening;
    this.#reader = new StreamReader(options.reader, this);
    const restorer = new ToolRestorer(options.request, options.toolNames);
    this.#restorer = restorer.idle ? undefined : restorer;
    const { cutAt = [], request } = options;
    this.#cut = cutAt.length > 0 ? new StopCut(cutAt, request.n ?? 1) : undefined;
  }

  get finished(): boolean {
    return this.#ended && this.#fault === undefined;
  }
  get committed(): boolean {
    return this.#committed;
  }
  get cutShort(): boolean {
    return this.#cut?.over === true;
  }
  get fault(): AnswerFault | undefined {
    return this.#fault;
  }
  get usage(): Usage | undefined {
    return this.#usage.spent;
  }
  get reasoningRemoved(): number {
    return this.#finishes.reduce((sum, { reasoningRemoved = 0 }) => sum + reasoningRemoved, 0);
  }
  get output(): OutputText {
    return this.#output;
  }
  get answer(): Readonly<Record<string, unknown>> | undefined {
    return this.finished ? this.#options.writer.answer : undefined;
  }

  push(block: string): string {
    if (this.#ended) return "";
    this.#reader.push(block);
    return this.#taken();
  }

  rewritten(bytes: Uint8Array, from: number, to: number): Uint8Array | undefined {
    return this.#ended ? undefined : this.#reader.rewritten(bytes, from, to, this.#output);
  }

  end(): string {
    if (this.#ended) return "";
    this.#reader.end();
    return this.#taken();
  }

  #taken(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  get isOver(): boolean {
    return this.#ended;
  }

  take(read: readonly ChatEvent[]): void {
    if (read.length > 0) this.#around = undefined;
    const events = this.#opening === undefined ? read : this.#opened(read, this.#opening);
    for (let i = 0; i < events.length && !this.#ended; i++) this.#take(events[i] as ChatEvent);
  }

  #take(event: ChatEvent): void {
    this.#out += this.#cut === undefined ? this.#event(event) : this.#cutEvent(this.#cut, event);
  }

  repeat(event: TextDelta | ReasoningDelta, text: string, isPlain: boolean): void {
    if (isPlain && event.type === "text-delta") {
      this.#around ??= (this.#cut === undefined && this.#options.writer.around?.(event)) || null;
      if (this.#around !== null) {
        this.#output.add(text);
        this.#out += this.#around.before + text + this.#around.after;
        return;
      }
    }
    this.#take({ ...event, text });
  }

  around(): TextSurroundings | undefined {
    return this.#around ?? undefined;
  }

  /** The events with the opening before the first one with content, if there is one. */
  #opened(events: readonly ChatEvent[], opening: ChatEvent): readonly ChatEvent[] {
    const first = events.findIndex(({ type }) => type !== "start");
    if (first < 0) return events;
    this.#opening = undefined;
    return events[first]?.type === "error" ? events : events.toSpliced(first, 0, opening);
  }

  #cutEvent(cut: StopCut, event: ChatEvent): string {
    const uncut: ChatEvent[] = [];
    cut.push(event, uncut);
    let out = "";
    for (const one of uncut) if (!this.#ended) out += this.#event(one);
    return out;
  }

  #event(event: ChatEvent): string {
    // Text and reasoning are the common case, and neither has tool names or stop sequences to handle.
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      this.#committed = true;
      this.#output.add(event.text);
      if (event.type === "reasoning-delta") this.#options.notes?.push(event);
      return this.#options.writer.push(event);
    }
    this.#options.notes?.push(event);
    this.#guarded.length = 0;
    this.#guard.push(event, this.#guarded);
    let passed = this.#guarded;
    if (this.#restorer !== undefined) {
      this.#restored.length = 0;
      for (const one of passed) this.#restorer.push(one, this.#restored);
      passed = this.#restored;
    }
    let out = "";
    for (const one of passed) {
      out += this.#write(one);
      if (this.#ended) break;
    }
    return out;
  }

  #write(event: ChatEvent): string {
    switch (event.type) {
      case "error":
        return this.#fail(event);
      case "start":
        // At the start, only the input is known.
        if (event.usage !== undefined) this.#usage.tell({ ...event.usage, outputTokens: 0 });
        break;
      case "finish":
        return this.#finish(event);
      case "tool-start":
        this.#committed = true;
        this.#choices.add(event.choice);
        this.#output.addEvent(event);
        break;
      case "tool-delta":
        this.#output.add(event.text);
        break;
      case "opaque":
      case "image":
        this.#output.addEvent(event);
        this.#choices.add(event.choice);
        break;
      default:
        this.#choices.add(event.choice);
    }
    return this.#options.writer.push(event);
  }

  /** Writes the finish of the last choice, with the settled usage. Then the stream is closed. */
  #finish(event: Extract<ChatEvent, { type: "finish" }>): string {
    this.#finishes.push(event);
    this.#choices.add(event.choice);
    this.#usage.tell(event.usage);
    if (this.#finishes.length < this.#choices.size) return "";
    this.#ended = true;
    const settled = this.#usage.settle();
    const { writer } = this.#options;
    let out = "";
    this.#finishes.forEach((finish, at) => {
      const last = at === this.#finishes.length - 1;
      const { usage: _usage, ...bare } = finish;
      out += writer.push(last ? { ...finish, usage: settled } : bare);
    });
    return out + writer.end();
  }

  #fail(event: Extract<ChatEvent, { type: "error" }>): string {
    this.#ended = true;
    this.#usage.tell(event.usage);
    const { type: _type, usage: _usage, retryAfterSeconds: _seconds, ...fault } = event;
    this.#fault = afterContent(fault, this.#committed);
    const { tell, requestId: request_id, writer } = this.#options;
    return writer.fail({ ...tell(this.#fault), request_id });
  }
}
