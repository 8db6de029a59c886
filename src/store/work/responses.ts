// Stored responses of the Responses API. Each keeps only its own input; a conversation is a chain of them.

import { setImmediate as nextTurn } from "node:timers/promises";
import { and, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import { jsonInTurns } from "../../base/json-in-slices.ts";
import { lazily } from "../../base/lazily.ts";
import { createPause } from "../../base/time-slices.ts";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { requireStorable } from "../values.ts";
import { responses } from "./schema.ts";

/** A stored response. */
export type StoredResponse = typeof responses.$inferSelect;

/** The responses that lead up to one, oldest first. */
export interface ResponseChain {
  readonly responses: readonly StoredResponse[];
  /** False if an older one was deleted, has expired, or is beyond the longest chain. */
  readonly complete: boolean;
  /** True if older ones were left out because of `bytesMax`. */
  readonly tooLarge: boolean;
}

/** An output item of a response. */
type Item = Readonly<Record<string, unknown>>;

/** Verbs over stored responses. */
export type ResponseStore = ReturnType<typeof responseStore>;

/** No model has room for more turns. */
const CHAIN_MAX = 1000;
const DELETE_BATCH = 200;
/** An output item is searched for in this number of an account's latest responses. */
const ITEMS_FROM_MAX = 300;

/** More characters are not joined and written in the same step. */
const LARGE_CHARS = 512 * 1024;

/** Builds the verbs. */
export function responseStore(store: Store) {
  const own: Own = (accountId, id) =>
    and(eq(responses.id, id), eq(responses.accountId, accountId), gt(responses.expiresAtMs, store.clock.now()));
  return { ...singleResponses(store, own), ...responseChains(store, own), ...responseItems(store) };
}

/** The condition of an account's unexpired response. */
type Own = (accountId: string, id: string) => SQL | undefined;

function singleResponses({ db, repeatable, clock, statement }: Store, own: Own) {
  const deleteOld = statement(
    "DELETE FROM responses WHERE id IN (SELECT id FROM responses WHERE expires_at <= ? LIMIT ?)",
  );
  return {
    /** Stores a response. Throws if there is another one with its id. */
    async saveResponse(response: Omit<StoredResponse, "createdAtMs">): Promise<void> {
      requireStorable({ id: response.id, model: response.model, previousId: response.previousId });
      // Megabytes are serialised in steps, and written in one of their own.
      const [input, body] = [await jsonInTurns(response.input), await jsonInTurns(response.body)];
      if (input.length + body.length > LARGE_CHARS) await nextTurn();
      await repeatable
        .insert(responses)
        .values({ ...response, input: sql`${input}`, body: sql`${body}`, createdAtMs: clock.now() })
        .run();
    },

    /** An account's stored response. */
    async findResponse(accountId: string, id: string): Promise<StoredResponse | undefined> {
      return db.select().from(responses).where(own(accountId, id)).get();
    },

    /** Deletes an account's response; false if there is none. */
    async deleteResponse(accountId: string, id: string): Promise<boolean> {
      const gone = await db.delete(responses).where(own(accountId, id)).returning({ id: responses.id }).all();
      return gone.length > 0;
    },

    /** Deletes a batch of the expired responses; returns how many, 0 when none is left. */
    async deleteExpiredResponses(): Promise<number> {
      return (await deleteOld.run([clock.now(), DELETE_BATCH])).changes;
    },
  };
}

function responseChains({ db, statement }: Store, own: Own) {
  const sizeOf = statement<{ bytes: number }>(
    "SELECT length(input) + length(body) AS bytes FROM responses WHERE id = ?",
  );
  return {
    /** An account's response `id` and its predecessors; undefined if `id` does not exist. */
    async responseChain(
      accountId: string,
      id: string,
      options: { bytesMax?: number } = {},
    ): Promise<ResponseChain | undefined> {
      const chain: StoredResponse[] = [];
      let next: string | null = id;
      let left = options.bytesMax ?? Number.POSITIVE_INFINITY;
      // Each query is by primary key. Following the chain here keeps every step within one account.
      while (next !== null && chain.length < CHAIN_MAX) {
        // Measured before it is read, since one answer may contain megabytes of images.
        left -= (await sizeOf.get([next]))?.bytes ?? 0;
        if (left < 0) break;
        const found: StoredResponse | undefined = await db.select().from(responses).where(own(accountId, next)).get();
        if (found === undefined) break;
        chain.push(found);
        next = found.previousId;
      }
      if (chain.length === 0 && left >= 0) return undefined;
      return { responses: chain.reverse(), complete: next === null, tooLarge: left < 0 };
    },
  };
}

function responseItems({ db, clock }: Store) {
  const latest = lazily(() =>
    db
      .select({ id: responses.id })
      .from(responses)
      .where(
        and(eq(responses.accountId, sql.placeholder("accountId")), gt(responses.expiresAtMs, sql.placeholder("now"))),
      )
      .orderBy(desc(responses.createdAtMs), desc(byBytes(responses.id)))
      .limit(ITEMS_FROM_MAX)
      .prepare(),
  );
  const bodyOf = lazily(() =>
    db
      .select({ body: responses.body })
      .from(responses)
      .where(eq(responses.id, sql.placeholder("id")))
      .prepare(),
  );
  return {
    /**
     * Output items by id, from the account's latest responses. If several have the same id, the newest. Yields to other
     * work.
     */
    async findItems(accountId: string, ids: readonly string[]): Promise<Item[]> {
      const wanted = new Set<unknown>(ids);
      if (wanted.size === 0) return [];
      const pause = createPause();
      const found: Item[] = [];
      for (const { id } of await latest().all({ accountId, now: clock.now() })) {
        await pause();
        // Read one by one, since an answer may contain megabytes of images.
        const output = (await bodyOf().get({ id }))?.body["output"];
        for (const item of Array.isArray(output) ? (output as (Item | null)[]) : []) {
          if (item !== null && wanted.delete(item["id"])) found.push(item);
        }
        if (wanted.size === 0) break;
      }
      return found;
    },
  };
}
