// Stored answers of the Responses API. Each keeps its own input only; a conversation is the chain of them.
import { and, eq, gt } from "drizzle-orm";
import type { Store } from "../engine/open.ts";
import { responses } from "./schema.ts";

/** A stored answer. */
export type StoredResponse = typeof responses.$inferSelect;

/** The answers that lead up to one, oldest first. */
export interface ResponseChain {
  readonly responses: readonly StoredResponse[];
  /** False when an older one has been deleted, has expired or lies beyond the longest chain. */
  readonly complete: boolean;
  /** True when older ones were left out because of `bytesMax`. */
  readonly tooLarge: boolean;
}

/** Verbs over stored answers. */
export type ResponseStore = ReturnType<typeof responseStore>;

/** No model's context holds more turns. */
const CHAIN_MAX = 1000;
const DELETE_BATCH = 200;
/** An item is looked for in this many of an account's latest answers. */
const ITEMS_FROM_MAX = 300;

/** Builds the verbs. */
export function responseStore(store: Store) {
  const { db, clock, sqlite } = store;
  const deleteOld = sqlite.query(
    "DELETE FROM responses WHERE id IN (SELECT id FROM responses WHERE expires_at <= ? LIMIT ?)",
  );
  const sizeOf = sqlite.query<{ bytes: number }, [string]>(
    "SELECT length(input) + length(body) AS bytes FROM responses WHERE id = ?",
  );
  const itemsOf = sqlite.query<{ item: string }, [string, number, number, string]>(
    `SELECT output.value AS item
     FROM (SELECT body FROM responses WHERE account_id = ? AND expires_at > ? ORDER BY rowid DESC LIMIT ?) AS answer,
          json_each(answer.body, '$.output') AS output
     WHERE json_extract(output.value, '$.id') IN (SELECT value FROM json_each(?))`,
  );
  const own = (accountId: string, id: string) =>
    and(eq(responses.id, id), eq(responses.accountId, accountId), gt(responses.expiresAtMs, clock.now()));

  return {
    /** Stores an answer. */
    async saveResponse(response: Omit<StoredResponse, "createdAtMs">): Promise<void> {
      db.insert(responses)
        .values({ ...response, createdAtMs: clock.now() })
        .run();
    },

    /** An account's stored answer. */
    async findResponse(accountId: string, id: string): Promise<StoredResponse | undefined> {
      return db.select().from(responses).where(own(accountId, id)).get();
    },

    /** An account's answer `id` and those it continues; undefined when `id` is not there. */
    async responseChain(
      accountId: string,
      id: string,
      options: { bytesMax?: number } = {},
    ): Promise<ResponseChain | undefined> {
      const chain: StoredResponse[] = [];
      let next: string | null = id;
      let left = options.bytesMax ?? Number.POSITIVE_INFINITY;
      // Each look-up is a primary key; following them here keeps a chain within one account at every step.
      while (next !== null && chain.length < CHAIN_MAX) {
        // Measured before it is read: one answer may hold megabytes of images.
        left -= sizeOf.get(next)?.bytes ?? 0;
        if (left < 0) break;
        const found: StoredResponse | undefined = db.select().from(responses).where(own(accountId, next)).get();
        if (found === undefined) break;
        chain.push(found);
        next = found.previousId;
      }
      if (chain.length === 0 && left >= 0) return undefined;
      return { responses: chain.reverse(), complete: next === null, tooLarge: left < 0 };
    },

    /** Output items by their ids, from the account's latest answers. */
    async findItems(accountId: string, ids: readonly string[]): Promise<Readonly<Record<string, unknown>>[]> {
      if (ids.length === 0) return [];
      const rows = itemsOf.all(accountId, clock.now(), ITEMS_FROM_MAX, JSON.stringify(ids));
      return rows.map(({ item }) => JSON.parse(item) as Readonly<Record<string, unknown>>);
    },

    /** Deletes an account's answer; false when there is none. */
    async deleteResponse(accountId: string, id: string): Promise<boolean> {
      return db.delete(responses).where(own(accountId, id)).returning({ id: responses.id }).all().length > 0;
    },

    /** Deletes some of the expired answers; gives how many, 0 when none is left. */
    async deleteExpiredResponses(): Promise<number> {
      return deleteOld.run(clock.now(), DELETE_BATCH).changes;
    },
  };
}
