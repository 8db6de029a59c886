// Remembers earlier compactions, so that later requests of a conversation are shortened in the same way and nothing is summarised
// twice. They are held in memory, up to a limit; those of conversations with a thread are also stored.

import type { ThreadName } from "../../../store/work/thread-name.ts";
import type { MeasuredElement } from "./measure.ts";

/** One compaction of a conversation. */
export interface Compaction {
  id: string;
  /** Hash of the elements that the compaction covers. */
  prefix: string;
  /** Index up to which elements are replaced by the record. */
  upTo: number;
  /** Index up to which tool results are replaced by placeholders. */
  clearedTo: number;
  /** Index up to which assistant messages were generated from a different history; undefined until the compaction's first use. */
  strippedTo: number | undefined;
  /** Maximum number of characters of the first user message; undefined if it is kept whole. */
  firstUserChars?: number | undefined;
  /** Results before this index are cut to this many characters. */
  clip?: { chars: number; to: number } | undefined;
  /** The text of the record; undefined if only results were cleared. */
  record: string | undefined;
  /** Tokens of the record. */
  tokens: number;
  /** Messages were dropped because no summary could be obtained; a summary is tried again later. */
  truncated: boolean;
  createdAtMs: number;
}

/** Where the compactions of threads are stored. */
export interface CompactionStore {
  load(name: ThreadName): Promise<Compaction[]>;
  save(name: ThreadName, compaction: Compaction): Promise<void>;
}

/** Identifies a conversation. */
export interface ConversationName {
  accountId: string;
  /** The client's name for it, if it is to be stored. */
  threadId: string | undefined;
  /** Which part of the conversation is stored; if undefined, everything that belongs to a thread. */
  keeps?: "conversation" | "nothing" | undefined;
  /** Hash of the list up to the first user message: it tells apart the account's conversations without a name. */
  opening: string;
  /** The memory's `mark()` when the request arrived. A conversation that is deleted after that is not recorded again. */
  since?: number | undefined;
}

/** Maximum number of compactions of one conversation; if there are more, some belong to abandoned branches. */
const PER_CONVERSATION_MAX = 8;
/** Maximum number of characters of all records in memory. */
const CHARS_MAX = 32 * 1024 * 1024;
const CONVERSATIONS_MAX = 20_000;
/** How long a compaction without a summary is used before a summary is tried again. */
const TRUNCATED_MS = 60_000;

/** The compactions of all conversations. */
export class CompactionMemory {
  readonly #held = new Map<string, Compaction[]>();
  /** Deleted conversations, each with the number of its deletion. */
  readonly #forgotten = new Map<string, number>();
  #forgets = 0;
  #chars = 0;
  readonly #store: CompactionStore;
  readonly #nowMs: () => number;

  constructor(store: CompactionStore, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Finds the compaction that covers the most of the list's beginning. */
  async match(name: ConversationName, list: readonly MeasuredElement[]): Promise<Compaction | undefined> {
    let best: Compaction | undefined;
    for (const compaction of await this.#covering(name, list)) {
      if (best === undefined || isFurther(compaction, best)) best = compaction;
    }
    return best;
  }

  /** Whether the conversation was already sent shortened. */
  async isUsed(name: ConversationName, list: readonly MeasuredElement[]): Promise<boolean> {
    return (await this.#covering(name, list)).some(({ strippedTo }) => strippedTo !== undefined);
  }

  async #covering(name: ConversationName, list: readonly MeasuredElement[]): Promise<Compaction[]> {
    const freshMs = this.#nowMs() - TRUNCATED_MS;
    return (await this.#of(name)).filter((one) => {
      const end = endOf(one);
      if (end > list.length || (one.truncated && one.createdAtMs < freshMs)) return false;
      return list[end - 1]?.prefix === one.prefix;
    });
  }

  /**
   * Records a compaction, and stores it if the conversation is a thread. Does nothing if the conversation was deleted meanwhile.
   */
  async keep(name: ConversationName, compaction: Compaction): Promise<void> {
    const key = keyOf(name);
    const known = (await this.#of(name)).filter(({ id }) => id !== compaction.id);
    if (this.isForgotten(name)) return;
    this.#put(key, [...known, compaction].slice(-PER_CONVERSATION_MAX));
    const kept = keptName(name);
    if (kept !== undefined && !compaction.truncated) await this.#store.save(kept, compaction);
  }

  /** Reads a stored conversation's compactions anew: another node has stored one. */
  reload(name: ConversationName): void {
    this.#drop(keyOf(name));
  }

  /** Forgets a conversation. Requests that are in progress can no longer record anything for it. */
  forget(name: ConversationName): void {
    const key = keyOf(name);
    this.#put(key, []);
    this.#forgotten.delete(key);
    this.#forgotten.set(key, ++this.#forgets);
    const oldest = this.#forgotten.keys().next().value;
    if (this.#forgotten.size > CONVERSATIONS_MAX && oldest !== undefined) this.#forgotten.delete(oldest);
  }

  /** The number of deletions so far, to find out later what was deleted since. */
  mark(): number {
    return this.#forgets;
  }

  /** Whether a conversation was deleted after its request arrived. */
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
    // Another request may have loaded the compactions meanwhile.
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

/** The number of elements that a compaction covers. */
export function endOf({ upTo, clearedTo }: Compaction): number {
  return Math.max(upTo, clearedTo);
}

function isFurther(one: Compaction, other: Compaction): boolean {
  return one.upTo === other.upTo ? endOf(one) >= endOf(other) : one.upTo > other.upTo;
}

function charsOf(compactions: readonly Compaction[]): number {
  return compactions.reduce((sum, { record = "" }) => sum + record.length, 0);
}

/** The name under which the compactions are stored; undefined if they are not stored. */
function keptName({ accountId, threadId, keeps }: ConversationName): ThreadName | undefined {
  return threadId === undefined || keeps === "nothing" ? undefined : { accountId, kind: keeps ?? "thread", threadId };
}

/** Whether its compactions are stored. */
export function isStored(name: ConversationName): boolean {
  return keptName(name) !== undefined;
}

/** The key of a conversation in the memory. */
export function keyOf({ accountId, threadId, keeps, opening }: ConversationName): string {
  return threadId === undefined
    ? `${accountId}\u0000opening\u0000${opening}`
    : `${accountId}\u0000${keeps ?? "thread"}\u0000${threadId}`;
}
