// The interface that the verbs are built on: one set of statements for two engines. SQLite answers at once and
// PostgreSQL later, so a statement returns a value or a promise. A transaction yields its steps, which each engine runs
// in its own way.

import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import type { Clock } from "../../base/clock.ts";
import { uuid } from "../../base/ids.ts";

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Builds and runs statements in SQL that both engines accept. */
export type Statements = BaseSQLiteDatabase<"sync" | "async", unknown>;

/** A value that can be bound to a statement. */
export type Bound = string | number | boolean | Uint8Array | null;

/** The values of a statement: by name, or in the order of its question marks. */
export type Values = readonly Bound[] | Readonly<Record<string, Bound>>;

/** A statement in plain SQL. */
export interface Statement<Row> {
  /** The first row; null if there is none. */
  get(values?: Values): MaybePromise<Row | null>;
  all(values?: Values): MaybePromise<Row[]>;
  /** Runs the statement and returns the number of changed rows. */
  run(values?: Values): MaybePromise<{ readonly changes: number }>;
}

/** One statement of a transaction, or several that do not need each other's results. */
export type Step = (() => unknown) | readonly (() => unknown)[];

/** The body of a transaction: `function* () { … yield* step(() => …) … }`. */
export type Work<T> = Generator<Step, T, unknown>;

/** How a transaction is run. */
export interface TransactionOptions {
  /**
   * What the transaction may assume about concurrent ones. `alone` (the default): it runs as if there were none. `row`:
   * only what each statement guarantees by itself; for transactions that make no decisions based on rows they have
   * read.
   */
  readonly sees?: "alone" | "row";
  /** It has the same effect however often it is committed, so it is repeated where it is unknown whether it was. */
  readonly isRepeatable?: boolean;
  /** Its statements change as many rows as there are, and may take longer than others. */
  readonly isLong?: boolean;
}

/** An open database. */
export interface Store {
  readonly engine: "sqlite" | "postgres";
  readonly dataDir: string;
  /** The time by which all programs on this database go. */
  readonly clock: Clock;
  /** Sets `clock` by that of the database's server. SQLite has none. */
  compareClock(): Promise<void>;
  readonly db: Statements;
  /**
   * Adds a row with an id that only its writer knows: a statement whose connection was cut is repeated for some seconds. A write
   * that others may follow goes through `once`.
   */
  readonly repeatable: Pick<Statements, "insert">;
  /** Prepares a statement in plain SQL: values are `?`, or all of them `$name`. */
  statement<Row = Record<string, unknown>>(text: string): Statement<Row>;
  /**
   * Runs `work` completely or not at all. After a conflict with other transactions it may run again from its start; it is told the
   * number of the attempt, from 1.
   */
  transaction<T>(work: (attempt: number) => Work<T>, options?: TransactionOptions): MaybePromise<T>;
  /**
   * False if a transaction with this id was committed before: for work that is repeated because the outcome of its
   * commit is unknown. Only within a transaction. SQLite always reports the outcome, so there it is always true.
   */
  isFirst(id: string): MaybePromise<boolean>;
  /** Appended to a `SELECT` to lock its rows, skipping those that other transactions have locked; "" if not needed. */
  readonly takingRows: string;
  /** A number that changes when another program may have committed changes, so that caches must be discarded. */
  readonly changeCounter: () => number;
  /**
   * `listener` hears the id of every job that has ended or is gone, wherever that was asked for. SQLite tells nothing, and a
   * message of PostgreSQL may be lost, so the jobs are looked at as well.
   */
  whenJobEnds(listener: (id: string) => void): void;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** One step of background maintenance; returns the amount of work done, 0 when nothing is left. */
  tidy(options: { readonly freePagesKept: number }): MaybePromise<number>;
  /**
   * Moves SQLite's log into the database and truncates it, unless a reader prevents it; never waits. True if it was
   * truncated.
   */
  checkpoint(): boolean;
  /** The size of the database in bytes. */
  size(): Promise<DatabaseSize>;
  /** A second call does nothing. */
  close(): MaybePromise<void>;
}

/**
 * Sizes in bytes: of rows and indexes, of the part that is free for new rows, and of the separate log, if there is one.
 */
export interface DatabaseSize {
  readonly bytes: number;
  readonly freeBytes: number;
  readonly logBytes: number;
}

/**
 * Runs a transaction that others may follow with writes of the same rows, and repeats it if its connection was cut. It takes effect
 * once: where an attempt was committed whose answer was lost, a repetition would undo what was written after it. Returns what the
 * work returned; undefined if an earlier attempt was the one that took effect.
 */
export async function once<T>(
  store: Store,
  work: (isRepeated: boolean) => Work<T>,
  options: Pick<TransactionOptions, "sees"> = {},
): Promise<T | undefined> {
  const id = uuid();
  return store.transaction(
    function* (attempt): Work<T | undefined> {
      const isFirst = yield* step(() => store.isFirst(id));
      return isFirst ? yield* work(attempt > 1) : undefined;
    },
    { ...options, isRepeatable: true },
  );
}

/** A statement of a transaction: `const row = yield* step(() => byId.get({ id }))`. */
export function* step<T>(run: () => T): Generator<Step, Awaited<T>, unknown> {
  return (yield run) as Awaited<T>;
}

/** Statements of a transaction that do not need each other's results; PostgreSQL receives them together. */
export function* steps(runs: readonly (() => unknown)[]): Generator<Step, void, unknown> {
  if (runs.length > 0) yield runs;
}
