// Stores the reasoning behind tool calls for clients that do not return it, since some providers refuse the next turn without it.
// It is found by account and call id. The number of entries and bytes is limited, for each account and in total; the oldest entry
// is removed first.

import type { Thought } from "../../../chat/seals.ts";

/** The limits. A long agent session has a few hundred calls of a few kilobytes each. */
export interface ThoughtLimits {
  accountEntries: number;
  accountBytes: number;
  entries: number;
  bytes: number;
  /** Long enough for a session that is resumed the next morning. */
  keptMs: number;
}

const LIMITS: ThoughtLimits = {
  accountEntries: 2000,
  accountBytes: 8 * 1024 * 1024,
  entries: 20_000,
  bytes: 64 * 1024 * 1024,
  keptMs: 24 * 60 * 60 * 1000,
};

interface Entry {
  callIds: readonly string[];
  thought: Thought;
  bytes: number;
  expiresAtMs: number;
}

interface Account {
  /** The entries by call id. An answer with several calls is stored under each of them. */
  byCall: Map<string, Entry>;
  /** The entries, oldest first. */
  entries: Set<Entry>;
  bytes: number;
}

/** The stored reasoning of all accounts. */
export class CallReasoning {
  readonly #limits: ThoughtLimits;
  /** The accounts; the one that was inactive for the longest time comes first. */
  readonly #accounts = new Map<string, Account>();
  #entries = 0;
  #bytes = 0;

  constructor(limits: Partial<ThoughtLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The number of entries and bytes. */
  get size(): { entries: number; bytes: number } {
    return { entries: this.#entries, bytes: this.#bytes };
  }

  /** Whether any reasoning of an account is stored. */
  has(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }

  keep(accountId: string, callIds: readonly string[], thought: Thought, nowMs: number): void {
    const bytes = bytesOf(callIds, thought);
    const { accountEntries, accountBytes, entries, bytes: bytesMax, keptMs } = this.#limits;
    if (callIds.length === 0 || bytes > accountBytes) return;
    this.#removeExpired(accountId, nowMs);
    // Accounts are in the order of their activity, so expired entries come before others.
    for (const id of this.#accounts.keys()) if (!this.#removeExpired(id, nowMs)) break;
    const account = this.#accounts.get(accountId) ?? { byCall: new Map(), entries: new Set(), bytes: 0 };
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, account);
    for (const id of callIds) this.#remove(accountId, account.byCall.get(id));
    const entry: Entry = { callIds, thought, bytes, expiresAtMs: nowMs + keptMs };
    // The account must be added again if removing its last entry removed it.
    this.#accounts.set(accountId, account);
    account.entries.add(entry);
    for (const id of callIds) account.byCall.set(id, entry);
    account.bytes += bytes;
    this.#entries++;
    this.#bytes += bytes;
    while (account.entries.size > accountEntries || account.bytes > accountBytes) this.#removeOldest(accountId);
    while (this.#entries > entries || this.#bytes > bytesMax) {
      const oldest = this.#accounts.keys().next().value;
      if (oldest === undefined) break;
      this.#removeOldest(oldest);
    }
  }

  /** Finds the reasoning behind a call; undefined if it is no longer stored. */
  find(accountId: string, callId: string, nowMs: number): Thought | undefined {
    const entry = this.#accounts.get(accountId)?.byCall.get(callId);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > nowMs) return entry.thought;
    this.#remove(accountId, entry);
    return undefined;
  }

  /** Removes an account's expired entries. Returns true if the account has no entries left. */
  #removeExpired(accountId: string, nowMs: number): boolean {
    for (const entry of this.#accounts.get(accountId)?.entries ?? []) {
      if (entry.expiresAtMs > nowMs) return false;
      this.#remove(accountId, entry);
    }
    return true;
  }

  #removeOldest(accountId: string): void {
    this.#remove(accountId, this.#accounts.get(accountId)?.entries.values().next().value);
  }

  #remove(accountId: string, entry: Entry | undefined): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined || entry === undefined || !account.entries.delete(entry)) return;
    for (const id of entry.callIds) if (account.byCall.get(id) === entry) account.byCall.delete(id);
    account.bytes -= entry.bytes;
    this.#entries--;
    this.#bytes -= entry.bytes;
    if (account.entries.size === 0) this.#accounts.delete(accountId);
  }
}

/** The approximate size of an entry. An object and a map entry take a few hundred bytes. */
function bytesOf(callIds: readonly string[], { parts, seals }: Thought): number {
  let chars = 0;
  for (const id of callIds) chars += id.length + 200;
  for (const { text, summary = [], signature = "", redacted = "", encrypted = "", details } of parts) {
    chars += text.length + signature.length + redacted.length + encrypted.length + 200;
    for (const part of summary) chars += part.length;
    if (details !== undefined) chars += JSON.stringify(details).length;
  }
  for (const { signature } of seals.values()) chars += signature.length;
  return chars * 2;
}
