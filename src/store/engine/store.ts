// What the verbs are built on: one set of statements that two engines run. SQLite answers at once and PostgreSQL later, so a
// statement gives a value or a promise of it; the steps of a transaction are yielded, for the engine to run in its own way.

import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import type { Clock } from "../../base/clock.ts";

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Builds and runs statements in the words that both engines read. */
export type Statements = BaseSQLiteDatabase<"sync" | "async", unknown>;

/** A value that can be bound to a statement. */
export type Bound = string | number | boolean | Uint8Array | null;

/** Named values, or those of the question marks in their order. */
export type Values = readonly Bound[] | Readonly<Record<string, Bound>>;

/** A statement in plain SQL. */
export interface Statement<Row> {
  /** The first row; null where there is none. */
  get(values?: Values): MaybePromise<Row | null>;
  all(values?: Values): MaybePromise<Row[]>;
  /** Runs it; says how many rows it changed. */
  run(values?: Values): MaybePromise<{ readonly changes: number }>;
}

/** One statement of a transaction, or several of which none needs the answer of another. */
export type Step = (() => unknown) | readonly (() => unknown)[];

/** The body of a transaction: `function* () { … yield* step(() => …) … }`. */
export type Work<T> = Generator<Step, T, unknown>;

/** How a transaction is run. */
export interface TransactionOptions {
  /**
   * What it may assume of others at the same time. `alone` (the default): that there are none. `row`: no more than each
   * statement by itself, for bodies that decide nothing by what they have read.
   */
  readonly sees?: "alone" | "row";
}

/** An open database. */
export interface Store {
  readonly engine: "sqlite" | "postgres";
  readonly dataDir: string;
  readonly clock: Clock;
  readonly db: Statements;
  /** Prepares a statement in plain SQL: values are `?`, or all of them `$name`. */
  statement<Row = Record<string, unknown>>(text: string): Statement<Row>;
  /** Runs `work` as a whole or not at all. It may be run again from its start where others were in its way. */
  transaction<T>(work: () => Work<T>, options?: TransactionOptions): MaybePromise<T>;
  /**
   * False when something under this id was committed before: for work that is tried again when its end was not heard. Within
   * a transaction only. SQLite always tells, and there it is always true.
   */
  isFirst(id: string): MaybePromise<boolean>;
  /** What is added to a `SELECT` to take rows for oneself, without waiting for those that others are taking. */
  readonly takingRows: string;
  /** Changes when others have committed something that is remembered here: a sign to drop caches. */
  changeCounter(): number;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Tidies up in the background; gives how much was done, 0 when nothing is left. */
  tidy(options: { readonly freePagesKept: number }): MaybePromise<number>;
  /** Moves SQLite's log into the database and empties it if no reader is in the way; never waits. True when it was emptied. */
  checkpoint(): boolean;
  /** How much room it takes, in bytes. */
  size(): Promise<DatabaseSize>;
  /** A second call does nothing. */
  close(): MaybePromise<void>;
}

/** In bytes: the rows and indexes, what of it is free for new rows, and the log beside it where there is one. */
export interface DatabaseSize {
  readonly bytes: number;
  readonly freeBytes: number;
  readonly logBytes: number;
}

/** A statement of a transaction: `const row = yield* step(() => byId.get({ id }))`. */
export function* step<T>(run: () => T): Generator<Step, Awaited<T>, unknown> {
  return (yield run) as Awaited<T>;
}

/** Statements of a transaction of which none needs the answer of another: PostgreSQL is told all of them at once. */
export function* steps(runs: readonly (() => unknown)[]): Generator<Step, void, unknown> {
  if (runs.length > 0) yield runs;
}
