// The statements that write the rows of requests.

import { lazily } from "../../base/lazily.ts";
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

/** The columns of a row: those that are often the same in rows that follow each other, those that differ, and those that few rows have. */
const ALIKE_COLUMNS = [
  ...["account_id", "key_id", "model", "provider", "upstream_model", "endpoint", "status", "error_code"],
  ...["estimated", "stream", "repeats", "unpriced", "answer_id"],
];
const OWN_COLUMNS = [
  ...["request_id", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"],
  ...["cost_micros", "latency_ms", "ttfb_ms", "created_at"],
];
const RARE_COLUMNS = [
  ...["uid", "attempts", "project_id", "tags", "run_id", "cache_write_hour_tokens", "service", "searches"],
];
/** Rows in one statement, the most first: a server answers few large statements sooner than many small ones. */
const ROWS_AT_ONCE = [64, 16, 4, 1];

/** Prepares the statements. */
export function rowStatements({ statement }: Store) {
  const insertOf = (columns: readonly string[], rows: readonly string[], end = "") =>
    statement(`INSERT INTO usage (${columns.join(", ")}) VALUES ${rows.join(", ")}${end}`);
  // Made when they are first used: the texts of many rows take part of the time of a start.
  const inserts = ROWS_AT_ONCE.map((count) => {
    const rows = () => Array.from({ length: count }, (_, at) => at);
    const marksOf = (columns: readonly string[]) => `(${columns.map(() => "?").join(", ")})`;
    const plain = [...ALIKE_COLUMNS, ...OWN_COLUMNS];
    const whole = [...plain, ...RARE_COLUMNS];
    return {
      count,
      // A third of the time of a row goes into binding values, so those that are the same in all rows are bound once.
      alike: lazily(() => insertOf(plain, rows().map(alikeMarks))),
      // Another quarter goes into values that nearly all rows do not have.
      plain: lazily(() =>
        insertOf(
          plain,
          rows().map(() => marksOf(plain)),
        ),
      ),
      whole: lazily(() =>
        insertOf(
          whole,
          rows().map(() => marksOf(whole)),
          " ON CONFLICT (uid) DO UPDATE SET repeats = usage.repeats + excluded.repeats",
        ),
      ),
    };
  });
  /** Inserts rows. If a `uid` exists already, its repeats are added to the existing row. */
  return (rows: readonly UsageRow[]): Write[] => {
    const writes: Write[] = [];
    let at = 0;
    for (const { count, ...insert } of inserts) {
      for (; at + count <= rows.length; at += count) {
        const some = rows.slice(at, at + count);
        const kind = kindOf(some);
        const values = valuesOf(some, kind);
        // Rows are inserted in the order of the batch, which determines their ids.
        writes.push({ table: 0, row: "", run: () => insert[kind]().run(values) });
      }
    }
    return writes;
  };
}

/** The marks of the row at a place of a statement whose rows share the values of `ALIKE_COLUMNS`, which are its first ones. */
function alikeMarks(at: number): string {
  const first = ALIKE_COLUMNS.length + at * OWN_COLUMNS.length + 1;
  return `(${[...ALIKE_COLUMNS.map((_, i) => `?${i + 1}`), ...OWN_COLUMNS.map((_, i) => `?${first + i}`)].join(", ")})`;
}

/** Which statement writes rows. */
type Kind = "alike" | "plain" | "whole";

function valuesOf(rows: readonly UsageRow[], kind: Kind): RowValue[] {
  const values: RowValue[] = [];
  if (kind === "alike") addAlikeValues(values, rows[0]!);
  for (const row of rows) {
    if (kind !== "alike") addAlikeValues(values, row);
    addOwnValues(values, row);
    if (kind === "whole") addRareValues(values, row);
  }
  return values;
}

function kindOf(rows: readonly UsageRow[]): Kind {
  for (const row of rows) if (!hasPlainColumns(row)) return "whole";
  const first = rows[0]!;
  for (const row of rows) if (!isAlike(row, first)) return "plain";
  return "alike";
}

function isAlike({ record, repeats }: UsageRow, first: UsageRow): boolean {
  return (
    record.keyId === first.record.keyId &&
    record.accountId === first.record.accountId &&
    record.model === first.record.model &&
    record.provider === first.record.provider &&
    record.upstreamModel === first.record.upstreamModel &&
    record.endpoint === first.record.endpoint &&
    record.status === first.record.status &&
    record.errorCode === first.record.errorCode &&
    record.estimated === first.record.estimated &&
    record.stream === first.record.stream &&
    record.unpriced === first.record.unpriced &&
    record.answerId === first.record.answerId &&
    repeats === first.repeats
  );
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

/** Adds the values of a row's `ALIKE_COLUMNS`, in their order. */
function addAlikeValues(values: RowValue[], { record: r, repeats }: UsageRow): void {
  values.push(r.accountId, r.keyId, r.model, r.provider, r.upstreamModel, r.endpoint, r.status, r.errorCode);
  values.push(r.estimated, r.stream, repeats, r.unpriced ?? null, r.answerId ?? null);
}

/** Adds the values of a row's `OWN_COLUMNS`, in their order. */
function addOwnValues(values: RowValue[], { record: r }: UsageRow): void {
  values.push(
    r.requestId.length > REQUEST_ID_CHARS ? r.requestId.slice(0, REQUEST_ID_CHARS) : r.requestId,
    r.inputTokens,
    r.outputTokens,
    r.cachedTokens,
    r.cacheWriteTokens,
    r.reasoningTokens,
    r.costMicros,
    r.latencyMs,
    r.ttfbMs,
    r.createdAtMs,
  );
}

/** Adds the values of a row's `RARE_COLUMNS`, in their order. */
function addRareValues(values: RowValue[], { record: r, uid }: UsageRow): void {
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
