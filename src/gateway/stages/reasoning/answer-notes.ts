// Collects the reasoning and tool calls of one answer, and stores them when it is complete.

import type { ChatEvent } from "../../../chat/event.ts";
import type { ReasoningPart } from "../../../chat/request.ts";
import type { CallSeal, Thought } from "../../../chat/seals.ts";
import type { AnswerListener } from "../../../upstream/dialect.ts";

/** Maximum number of characters of reasoning that are kept of one answer. */
const CHARS_MAX = 1024 * 1024;

/** Collects the reasoning and tool calls of an answer. `keep` is called once, at the end of an answer that has both. */
export class AnswerNotes implements AnswerListener {
  readonly #minter: string;
  readonly #keep: (callIds: readonly string[], thought: Thought) => void;
  readonly #open = new Map<string, ReasoningPart>();
  readonly #itemIds = new Map<string, string>();
  readonly #parts: ReasoningPart[] = [];
  readonly #callIds: string[] = [];
  readonly #seals = new Map<string, CallSeal>();
  #plain = "";
  #chars = 0;
  #done = false;

  constructor(minter: string, keep: (callIds: readonly string[], thought: Thought) => void) {
    this.#minter = minter;
    this.#keep = keep;
  }

  thought(text: string): void {
    this.#chars += text.length;
    if (this.#chars <= CHARS_MAX) this.#plain += text;
  }

  called(callId: string): void {
    this.#callIds.push(callId);
  }

  finished(): void {
    if (this.#done) return;
    this.#done = true;
    const parts = this.#plain === "" ? this.#parts : [{ type: "reasoning" as const, text: this.#plain }];
    if (this.#callIds.length === 0 || this.#chars > CHARS_MAX || (parts.length === 0 && this.#seals.size === 0)) return;
    this.#keep(this.#callIds, { parts, seals: this.#seals });
  }

  /** Takes an event of the answer. If there are several choices, only the first one is recorded. */
  push(event: ChatEvent): void {
    if (!("choice" in event) || event.choice !== 0) return;
    switch (event.type) {
      case "reasoning-start":
        this.#open.set(event.id, { type: "reasoning", text: "" });
        if (event.itemId !== undefined) this.#itemIds.set(event.id, event.itemId);
        break;
      case "reasoning-delta": {
        const part = this.#open.get(event.id);
        this.#chars += event.text.length;
        if (part === undefined || this.#chars > CHARS_MAX) break;
        if (event.summaryIndex === undefined) part.text += event.text;
        else {
          part.summary ??= [];
          // Indices come from the upstream and may skip numbers.
          const at = Math.min(event.summaryIndex, part.summary.length);
          part.summary[at] = (part.summary[at] ?? "") + event.text;
        }
        break;
      }
      case "reasoning-end": {
        const part = this.#open.get(event.id);
        this.#open.delete(event.id);
        if (part === undefined) break;
        const { type: _type, choice: _choice, id: _id, ...seals } = event;
        const itemId = this.#itemIds.get(event.id);
        this.#parts.push({
          ...part,
          ...seals,
          // Encrypted content needs no id, and by one the provider would look for an item that it may not have stored.
          ...(itemId === undefined || seals.encrypted !== undefined ? {} : { itemId }),
          ...(seals.origin === undefined ? {} : { minter: this.#minter }),
        });
        break;
      }
      case "tool-start": {
        const { callId, signature, origin } = event;
        this.#callIds.push(callId);
        if (signature === undefined) break;
        this.#seals.set(callId, { signature, minter: this.#minter, ...(origin === undefined ? {} : { origin }) });
        break;
      }
      case "finish":
        this.finished();
        break;
      default:
        break;
    }
  }
}
