// Values of megabytes, written in parts. One statement with all of it would hold up the event loop, as SQLite writes within the
// call. A value counts from the moment when a row with its id is committed: triggers (migration 0017) clear its expiry then, and
// delete it with that row. After a crash before that moment the parts expire.

import { setImmediate as nextTurn } from "node:timers/promises";
import { asc, eq } from "drizzle-orm";
import { uuid } from "../../base/ids.ts";
import type { Store } from "../engine/store.ts";
import { largeValueParts, largeValues } from "./schema.ts";

/** A value in its row, or the id of the large value; the row then holds an empty one. */
export interface PlacedValue {
  readonly inRow: Buffer;
  readonly valueId: string | null;
}

/** Reads and writes values of any size. */
export interface LargeValues {
  /** Writes a value whose row is not written yet. A small one stays in the row. */
  place(accountId: string, value: Buffer): Promise<PlacedValue>;
  /** The value of a row; undefined if its row was replaced or deleted since it was read. */
  read(placed: PlacedValue): Promise<Buffer | undefined>;
}

const PART_BYTES = 1024 * 1024;
/** Values up to this size are written with their row. */
const IN_ROW_BYTES_MAX = PART_BYTES;
/** A value whose row is not written within this time is deleted. */
const WRITING_MS = 600_000;
const DELETE_BATCH = 20;

/** Builds the functions. */
export function largeValueStore(store: Store): LargeValues {
  const { db, repeatable, clock } = store;
  return {
    async place(accountId, value) {
      if (value.byteLength <= IN_ROW_BYTES_MAX) return { inRow: value, valueId: null };
      const valueId = uuid();
      const expiresAtMs = clock.now() + WRITING_MS;
      await repeatable
        .insert(largeValues)
        .values({ id: valueId, accountId, bytes: value.byteLength, expiresAtMs })
        .run();
      for (let seq = 0; seq * PART_BYTES < value.byteLength; seq++) {
        await nextTurn();
        const content = value.subarray(seq * PART_BYTES, (seq + 1) * PART_BYTES);
        await repeatable.insert(largeValueParts).values({ valueId, seq, content }).run();
      }
      await nextTurn();
      return { inRow: Buffer.alloc(0), valueId };
    },

    async read({ inRow, valueId }) {
      // A program that does not know large values replaces the content of the row alone.
      if (valueId === null || inRow.byteLength > 0) return inRow;
      const rows = await db
        .select({ content: largeValueParts.content })
        .from(largeValueParts)
        .where(eq(largeValueParts.valueId, valueId))
        .orderBy(asc(largeValueParts.seq))
        .all();
      return rows.length === 0 ? undefined : Buffer.concat(rows.map(({ content }) => content));
    },
  };
}

/** Deletes a batch of the values whose row was never written; returns how many, 0 when none is left. */
export function expiredValuesSweep({ clock, statement }: Store): () => Promise<number> {
  const drop = statement(
    "DELETE FROM large_values WHERE id IN (SELECT id FROM large_values WHERE expires_at <= ? LIMIT ?)",
  );
  return async () => (await drop.run([clock.now(), DELETE_BATCH])).changes;
}

/**
 * Reads a row with its value. A row that is replaced between the two is read again; undefined if there is none, or none that stays
 * for long enough.
 */
export async function readWhole<Row, Whole>(
  row: () => Promise<Row | undefined>,
  whole: (row: Row) => Promise<Whole | undefined>,
): Promise<Whole | undefined> {
  for (let tries = 0; tries < READS_MAX; tries++) {
    const found = await row();
    if (found === undefined) return undefined;
    const read = await whole(found);
    if (read !== undefined) return read;
  }
  return undefined;
}

const READS_MAX = 5;
