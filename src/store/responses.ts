// Stored answers of the Responses API. Each keeps its own input only; a conversation is the chain of them.
import { and, eq, gt } from "drizzle-orm";
import type { Store } from "./open.ts";
import { responses } from "./schema-work.ts";

/** A stored answer. */
export type StoredResponse = typeof responses.$inferSelect;

/** The answers that lead up to one, oldest first. */
export interface ResponseChain {
  readonly responses: readonly StoredResponse[];
  /** False when an older one has been deleted, has expired or lies beyond the longest chain. */
  readonly complete: boolean;
}

/** Verbs over stored answers. */
export type ResponseStore = ReturnType<typeof responseStore>;

/** No model's context holds more turns. */
const CHAIN_MAX = 1000;
const DELETE_BATCH = 200;

/** Builds the verbs. */
export function responseStore(store: Store) {
  const { db, clock, sqlite } = store;
  const deleteOld = sqlite.query(
    "DELETE FROM responses WHERE id IN (SELECT id FROM responses WHERE expires_at <= ? LIMIT ?)",
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
    async responseChain(accountId: string, id: string): Promise<ResponseChain | undefined> {
      const chain: StoredResponse[] = [];
      let next: string | null = id;
      // Each look-up is a primary key; following them here keeps a chain within one account at every step.
      while (next !== null && chain.length < CHAIN_MAX) {
        const found: StoredResponse | undefined = db.select().from(responses).where(own(accountId, next)).get();
        if (found === undefined) break;
        chain.push(found);
        next = found.previousId;
      }
      if (chain.length === 0) return undefined;
      return { responses: chain.reverse(), complete: next === null };
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
