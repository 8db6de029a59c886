// Compactions that were made, newest last, so that a later request of the same conversation is shortened in the same way and
// nothing is summarised twice. In memory, bounded; conversations with a thread are also in the store.

import type { ThreadName } from "../../store/work/thread-name.ts";
import type { MeasuredElement } from "./measure.ts";

/** One compaction of a conversation. */
export interface Compaction {
  id: string;
  /** Stands for the elements that it speaks of. */
  prefix: string;
  /** Elements before it are in the record. */
  upTo: number;
  /** Tool results of elements before it are placeholders. */
  clearedTo: number;
  /** Elements before it were written after another history; undefined until it is used for the first time. */
  strippedTo: number | undefined;
  /** The record's text; undefined where only results were cleared. */
  record: string | undefined;
  /** Tokens of the record. */
  tokens: number;
  /** Messages were left out because no summary could be obtained: it is tried again later. */
  truncated: boolean;
  createdAtMs: number;
}

/** Where compactions of threads are kept. */
export interface CompactionStore {
  load(name: ThreadName): Promise<Compaction[]>;
  save(name: ThreadName, compaction: Compaction): Promise<void>;
}

/** Whose conversation it is. */
export interface ConversationName {
  accountId: string;
  /** The client's name for it, where it is to be stored. */
  threadId: string | undefined;
  /** What is kept of it; undefined: all of a thread. */
  keeps?: "conversation" | "nothing" | undefined;
  /** What tells it from the account's other conversations, where it has no name. */
  opening: string;
  /** The memory's `mark()` when the request came: what is deleted after it stays deleted. */
  since?: number | undefined;
}

/** Compactions of one conversation; others are of branches that were left. */
const PER_CONVERSATION_MAX = 8;
/** Characters of records in memory, all conversations together. */
const CHARS_MAX = 32 * 1024 * 1024;
const CONVERSATIONS_MAX = 20_000;
/** How long a conversation is shortened without a summary before one is asked for again. */
const TRUNCATED_MS = 60_000;

/** The memory. */
export class CompactionMemory {
  readonly #held = new Map<string, Compaction[]>();
  /** Conversations that were deleted, by when. */
  readonly #forgotten = new Map<string, number>();
  #forgets = 0;
  #chars = 0;
  readonly #store: CompactionStore;
  readonly #nowMs: () => number;

  constructor(store: CompactionStore, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** The compaction of the longest part that the list begins with. */
  async match(name: ConversationName, list: readonly MeasuredElement[]): Promise<Compaction | undefined> {
    const known = await this.#of(name);
    const freshMs = this.#nowMs() - TRUNCATED_MS;
    let best: Compaction | undefined;
    for (const one of known) {
      const end = endOf(one);
      if (end > list.length || (one.truncated && one.createdAtMs < freshMs)) continue;
      if (list[end - 1]?.prefix !== one.prefix) continue;
      if (best === undefined || isFurther(one, best)) best = one;
    }
    return best;
  }

  /** Keeps a compaction; those of a thread are stored. Nothing is kept of a conversation that was deleted meanwhile. */
  async keep(name: ConversationName, compaction: Compaction): Promise<void> {
    const key = keyOf(name);
    const known = (await this.#of(name)).filter(({ id }) => id !== compaction.id);
    if (this.isForgotten(name)) return;
    this.#put(key, [...known, compaction].slice(-PER_CONVERSATION_MAX));
    const kept = keptName(name);
    if (kept !== undefined && !compaction.truncated) await this.#store.save(kept, compaction);
  }

  /** Forgets a conversation, and what requests that are in progress make of it. */
  forget(name: ConversationName): void {
    const key = keyOf(name);
    this.#put(key, []);
    this.#forgotten.delete(key);
    this.#forgotten.set(key, ++this.#forgets);
    const oldest = this.#forgotten.keys().next().value;
    if (this.#forgotten.size > CONVERSATIONS_MAX && oldest !== undefined) this.#forgotten.delete(oldest);
  }

  /** Stands for now, to tell later what was forgotten since. */
  mark(): number {
    return this.#forgets;
  }

  /** True for a conversation that was deleted after its request came. */
  isForgotten(name: ConversationName): boolean {
    return name.since !== undefined && (this.#forgotten.get(keyOf(name)) ?? 0) > name.since;
  }

  async #of(name: ConversationName): Promise<Compaction[]> {
    const key = keyOf(name);
    const held = this.#held.get(key);
    if (held !== undefined) {
      this.#held.delete(key);
      this.#held.set(key, held);
      return held;
    }
    const kept = keptName(name);
    const loaded = kept === undefined ? [] : await this.#store.load(kept);
    // Another request may have loaded it meanwhile.
    const now = this.#held.get(key);
    if (now !== undefined) return now;
    if (name.threadId !== undefined || loaded.length > 0) this.#put(key, loaded.slice(-PER_CONVERSATION_MAX));
    return loaded;
  }

  #put(key: string, compactions: Compaction[]): void {
    this.#drop(key);
    this.#held.set(key, compactions);
    this.#chars += charsOf(compactions);
    for (const oldest of this.#held.keys()) {
      if ((this.#chars <= CHARS_MAX && this.#held.size <= CONVERSATIONS_MAX) || oldest === key) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#chars -= charsOf(this.#held.get(key) ?? []);
    this.#held.delete(key);
  }
}

/** The number of elements that a compaction speaks of. */
export function endOf({ upTo, clearedTo }: Compaction): number {
  return Math.max(upTo, clearedTo);
}

function isFurther(one: Compaction, other: Compaction): boolean {
  return one.upTo === other.upTo ? endOf(one) >= endOf(other) : one.upTo > other.upTo;
}

function charsOf(compactions: readonly Compaction[]): number {
  return compactions.reduce((sum, { record = "" }) => sum + record.length, 0);
}

/** Where its compactions are kept; undefined: nowhere. */
function keptName({ accountId, threadId, keeps }: ConversationName): ThreadName | undefined {
  return threadId === undefined || keeps === "nothing" ? undefined : { accountId, kind: keeps ?? "thread", threadId };
}

/** One text for one conversation. */
export function keyOf({ accountId, threadId, keeps, opening }: ConversationName): string {
  return threadId === undefined
    ? `${accountId}\u0000opening\u0000${opening}`
    : `${accountId}\u0000${keeps ?? "thread"}\u0000${threadId}`;
}
