// Stored responses of the Responses API. Each keeps only its own input; a conversation is a chain of them.

import { setImmediate as nextTurn } from "node:timers/promises";
import { and, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import { jsonInTurns } from "../../base/json-in-slices.ts";
import { lazily } from "../../base/lazily.ts";
import { createPause } from "../../base/time-slices.ts";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { requireStorable } from "../values.ts";
import { largeValueStore, readWhole } from "./large-values.ts";
import { responses } from "./schema.ts";

/** A response as its row. */
type Row = typeof responses.$inferSelect;

/** A stored response. */
export type StoredResponse = Omit<Row, "input" | "body" | "valueId"> & {
  /** This request's own input items, without those of earlier responses. */
  readonly input: readonly unknown[];
  /** The response object as the client received it. */
  readonly body: Readonly<Record<string, unknown>>;
};

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

/** More characters are written as a large value. */
const IN_ROW_CHARS_MAX = 512 * 1024;

/** Builds the verbs. */
export function responseStore(store: Store) {
  const own: Own = (accountId, id) =>
    and(eq(responses.id, id), eq(responses.accountId, accountId), gt(responses.expiresAtMs, store.clock.now()));
  const whole = wholeOf(store);
  const find = async (accountId: string, id: string) =>
    readWhole(async () => store.db.select().from(responses).where(own(accountId, id)).get(), whole);
  return { ...singleResponses(store, { own, find }), ...responseChains(store, find), ...responseItems(store, whole) };
}

/** The condition of an account's unexpired response. */
type Own = (accountId: string, id: string) => SQL | undefined;

/** An account's unexpired response. */
type Find = (accountId: string, id: string) => Promise<StoredResponse | undefined>;

/** Reads what a row stands for; undefined if it was deleted meanwhile. */
function wholeOf(store: Store) {
  const values = largeValueStore(store);
  return async ({ valueId, ...row }: Row): Promise<StoredResponse | undefined> => {
    if (valueId === null) return { ...row, input: JSON.parse(row.input), body: JSON.parse(row.body) };
    const bytes = await values.read({ inRow: Buffer.alloc(0), valueId });
    if (bytes === undefined) return undefined;
    await nextTurn();
    const text = bytes.toString();
    await nextTurn();
    const [input, body] = JSON.parse(text) as [StoredResponse["input"], StoredResponse["body"]];
    return { ...row, input, body };
  };
}

function singleResponses(store: Store, { own, find }: { own: Own; find: Find }) {
  const { db, repeatable, clock, statement } = store;
  const values = largeValueStore(store);
  const deleteOld = statement(
    "DELETE FROM responses WHERE id IN (SELECT id FROM responses WHERE expires_at <= ? LIMIT ?)",
  );
  /** The row of a large response, whose content is written. */
  const placed = async (row: Row): Promise<Row> => {
    await nextTurn();
    const input = Buffer.from(row.input);
    await nextTurn();
    const body = Buffer.from(row.body);
    const [open, between, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];
    const { valueId } = await values.place(row.accountId, Buffer.concat([open, input, between, body, close]));
    return valueId === null ? row : { ...row, input: "", body: "", valueId };
  };
  return {
    /** Stores a response. Throws if there is another one with its id. */
    async saveResponse(response: Omit<StoredResponse, "createdAtMs">): Promise<void> {
      requireStorable({ id: response.id, model: response.model, previousId: response.previousId });
      const [input, body] = [await jsonInTurns(response.input), await jsonInTurns(response.body)];
      const row = { ...response, input, body, valueId: null, createdAtMs: clock.now() };
      await repeatable
        .insert(responses)
        .values(input.length + body.length > IN_ROW_CHARS_MAX ? await placed(row) : row)
        .run();
    },

    /** An account's stored response. */
    findResponse: find,

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

function responseChains({ statement }: Store, find: Find) {
  const sizeOf = statement<{ bytes: number }>(
    `SELECT length(input) + length(body)
       + COALESCE((SELECT large.bytes FROM large_values AS large WHERE large.id = value_id), 0) AS bytes
     FROM responses WHERE id = ?`,
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
      let bytesLeft = options.bytesMax ?? Number.POSITIVE_INFINITY;
      // Each query is by primary key. Following the chain here keeps every step within one account.
      while (next !== null && chain.length < CHAIN_MAX) {
        // Measured before it is read, since one answer may contain megabytes of images.
        bytesLeft -= (await sizeOf.get([next]))?.bytes ?? 0;
        if (bytesLeft < 0) break;
        const found: StoredResponse | undefined = await find(accountId, next);
        if (found === undefined) break;
        chain.push(found);
        next = found.previousId;
      }
      if (chain.length === 0 && bytesLeft >= 0) return undefined;
      return { responses: chain.reverse(), complete: next === null, tooLarge: bytesLeft < 0 };
    },
  };
}

function responseItems({ db, clock }: Store, whole: ReturnType<typeof wholeOf>) {
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
  const rowOf = lazily(() =>
    db
      .select()
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
        const response = await readWhole(async () => rowOf().get({ id }), whole);
        const output = response?.body["output"];
        for (const item of Array.isArray(output) ? (output as (Item | null)[]) : []) {
          if (item !== null && wanted.delete(item["id"])) found.push(item);
        }
        if (wanted.size === 0) break;
      }
      return found;
    },
  };
}
