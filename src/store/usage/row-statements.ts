// The statements that write the rows of requests.

import { storable } from "../../base/storable.ts";
import type { Store } from "../engine/store.ts";
import { triesOf, type UsageRecord } from "./record.ts";

/** A request id is the client's own text, so a long one is cut off. */
const REQUEST_ID_CHARS = 200;

/** A row of the table: the record, what identifies it if several requests share it, and how many requests it stands for. */
export interface UsageRow {
  readonly record: UsageRecord;
  readonly uid: string | null;
  readonly repeats: number;
  /** Whether the record is known to have amounts and texts that every engine stores unchanged. */
  readonly isKeepable?: true;
}

/**
 * A statement and the row that it writes. All batches write in the same order of tables and rows, which prevents
 * deadlocks.
 */
export interface Write {
  readonly table: number;
  readonly row: string;
  readonly run: () => unknown;
}

/** The columns of a row, in the order of `addValues`: those that every row has, and those that few rows have. */
const PLAIN_COLUMNS = [
  ...["request_id", "account_id", "key_id", "model", "provider", "upstream_model", "endpoint", "status", "error_code"],
  ...["input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "estimated"],
  ...["cost_micros", "latency_ms", "ttfb_ms", "stream", "created_at", "repeats", "answer_id", "unpriced"],
];
const RARE_COLUMNS = [
  ...["uid", "attempts", "project_id", "tags", "run_id", "cache_write_hour_tokens", "service", "searches"],
];
/** Rows in one statement, the most first: a server answers few large statements sooner than many small ones. */
const ROWS_AT_ONCE = [64, 16, 4, 1];

/** Prepares the statements. */
export function rowStatements({ statement }: Store) {
  const insertOf = (columns: readonly string[], count: number, end: string) => {
    const marks = `(${columns.map(() => "?").join(", ")})`;
    const places = Array.from({ length: count }, () => marks).join(", ");
    return statement(`INSERT INTO usage (${columns.join(", ")}) VALUES ${places}${end}`);
  };
  const inserts = ROWS_AT_ONCE.map((count) => ({
    count,
    // A quarter of the time of a row goes into values that nearly all rows do not have.
    plain: insertOf(PLAIN_COLUMNS, count, ""),
    whole: insertOf(
      [...PLAIN_COLUMNS, ...RARE_COLUMNS],
      count,
      " ON CONFLICT (uid) DO UPDATE SET repeats = usage.repeats + excluded.repeats",
    ),
  }));
  /** Inserts rows. If a `uid` exists already, its repeats are added to the existing row. */
  return (rows: readonly UsageRow[]): Write[] => {
    const writes: Write[] = [];
    let at = 0;
    for (const { count, plain, whole } of inserts) {
      for (; at + count <= rows.length; at += count) {
        const some = rows.slice(at, at + count);
        const isPlain = some.every(hasPlainColumns);
        const values: RowValue[] = [];
        for (const row of some) addValues(values, row, isPlain);
        const insert = isPlain ? plain : whole;
        // Rows are inserted in the order of the batch, which determines their ids.
        writes.push({ table: 0, row: "", run: () => insert.run(values) });
      }
    }
    return writes;
  };
}

function hasPlainColumns({ record: r, uid }: UsageRow): boolean {
  return (
    uid === null &&
    (r.attempts === undefined || r.attempts.length === 0) &&
    r.projectId == null &&
    r.tags === undefined &&
    r.runId == null &&
    r.cacheWriteHourTokens == null &&
    r.service == null &&
    r.searches == null
  );
}

type RowValue = string | number | boolean | null;

/** Adds the values of a row, in the order of the columns. */
function addValues(values: RowValue[], { record: r, uid, repeats }: UsageRow, isPlain: boolean): void {
  values.push(
    r.requestId.slice(0, REQUEST_ID_CHARS),
    r.accountId,
    r.keyId,
    r.model,
    r.provider,
    r.upstreamModel,
    r.endpoint,
    r.status,
    r.errorCode,
    r.inputTokens,
    r.outputTokens,
    r.cachedTokens,
    r.cacheWriteTokens,
    r.reasoningTokens,
    r.estimated,
    r.costMicros,
    r.latencyMs,
    r.ttfbMs,
    r.stream,
    r.createdAtMs,
    repeats,
    r.answerId ?? null,
    r.unpriced ?? null,
  );
  if (isPlain) return;
  const tries = triesOf(r);
  values.push(
    uid,
    tries === undefined ? null : JSON.stringify(tries),
    r.projectId ?? null,
    r.tags === undefined ? null : JSON.stringify(r.tags.map(storable)),
    r.runId ?? null,
    r.cacheWriteHourTokens ?? null,
    r.service ?? null,
    r.searches ?? null,
  );
}
