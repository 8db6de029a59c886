// The answers that connections hold, so that a client can continue from one that is not stored. All connections share one limit of
// memory, of which an account has at most half; what was not used for longest is dropped first, and its client sends the whole conversation again.

/** What is held of all connections together, in characters. */
const CHARS_MAX = 128 * 1024 * 1024;
/** The limit of one conversation; a longer one fits no model's context. */
const ONE_CHARS_MAX = 32 * 1024 * 1024;

interface Entry {
  readonly id: string;
  /** The items as JSON, separated by commas: a text takes a fraction of the memory of its objects. */
  readonly text: string;
  readonly isStored: boolean;
  /** The entries of its connection, by id. */
  readonly own: Map<string, Entry>;
  readonly account: HeldOfAccount;
}

/** What is held of the connections of one account, in characters. */
export interface HeldOfAccount {
  chars: number;
}

/** The answers of one connection. */
export type HeldAnswers = ReturnType<ReturnType<typeof createHolder>>;

/** Creates the holder of all connections, whose result opens one. */
export function createHolder(charsMax = CHARS_MAX) {
  /** In the order of their last use. */
  const used = new Set<Entry>();
  let chars = 0;
  const drop = (entry: Entry) => {
    if (!used.delete(entry)) return;
    entry.own.delete(entry.id);
    entry.account.chars -= entry.text.length;
    chars -= entry.text.length;
  };
  return (account: HeldOfAccount) => {
    const own = new Map<string, Entry>();
    /** The newest answer of each lane. */
    const newest = new Map<string, string>();
    let isClosed = false;
    const dropId = (id: string | undefined) => {
      const entry = id === undefined ? undefined : own.get(id);
      if (entry !== undefined) drop(entry);
    };
    return {
      has: (id: string) => own.has(id),

      /** The items up to an answer, with its own. */
      find(id: string): { readonly items: readonly unknown[]; readonly isStored: boolean } | undefined {
        const entry = own.get(id);
        if (entry === undefined) return undefined;
        used.delete(entry);
        used.add(entry);
        return { items: JSON.parse(`[${entry.text}]`) as unknown[], isStored: entry.isStored };
      },

      /** The text of the items up to an answer. */
      textOf: (id: string) => own.get(id)?.text,

      /** Holds an answer in place of the lane's last one. `texts`: lists of items, as JSON without their brackets. */
      put(lane: string, id: string, { texts, isStored }: { texts: readonly string[]; isStored: boolean }): void {
        const text = texts.filter((part) => part !== "").join(",");
        dropId(newest.get(lane));
        dropId(id);
        newest.set(lane, id);
        // An answer may end after its connection.
        if (isClosed || text.length > ONE_CHARS_MAX) return;
        const entry = { id, text, isStored, own, account };
        own.set(id, entry);
        used.add(entry);
        account.chars += text.length;
        chars += text.length;
        for (const oldest of used) {
          if (account.chars <= charsMax / 2) break;
          if (oldest.account === account) drop(oldest);
        }
        for (const oldest of used) {
          if (chars <= charsMax) break;
          drop(oldest);
        }
      },

      drop: dropId,

      /** Drops all, and holds nothing more. */
      close(): void {
        isClosed = true;
        for (const entry of [...own.values()]) drop(entry);
      },
    };
  };
}

/** The items of a list as JSON, without its brackets. */
export function listText(items: readonly unknown[]): string {
  return JSON.stringify(items).slice(1, -1);
}
