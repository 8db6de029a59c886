// The store on PostgreSQL: the same verbs and tables, on a few connections to a database that several programs may
// share.

import { BaseSQLiteDatabase, SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import { SQLiteRemoteSession } from "drizzle-orm/sqlite-proxy";
import { type Clock, systemClock } from "../../../base/clock.ts";
import type { Bound, Statement, Statements, Step, Store, TransactionOptions, Values, Work } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { migratePostgres } from "./migrate.ts";
import { openPool, type Pool, type Query, type Rows } from "./pool.ts";
import { type ComparedClock, serverClock } from "./server-clock.ts";
import { translated } from "./sql.ts";

/** How a store on PostgreSQL is opened. */
export interface PostgresOptions {
  readonly url: string;
  /** The folder for the data that a node keeps for itself. */
  readonly dataDir: string;
  readonly clock?: Clock;
  /** The name of this program among those that share the database. */
  readonly node?: string;
  readonly connections?: number;
  readonly waitMs?: number;
  /** Called when the server stops answering, with the cause, and when it answers again. */
  readonly reached?: (isUp: boolean, cause?: unknown) => void;
  readonly idleInTransactionMs?: number;
  /** If false, throws when the database does not have our tables yet. */
  readonly create?: boolean;
  /** True while copying. A database whose copy is incomplete is refused to all others. */
  readonly copying?: boolean;
}

/** A store on PostgreSQL. */
export interface PostgresStore extends Store {
  readonly pool: Pool;
  close(): Promise<void>;
}

/** Triggers report changes of accounts and keys on this channel. */
const CHANGES = "sallyport_changes";
/** Triggers tell here which job has ended or is gone. */
const JOB_ENDS = "sallyport_job_ends";
/** A batch that is repeated is repeated within minutes. */
const BATCH_KEPT_MS = 3_600_000;

/** Opens the database at `url` and updates its schema. Throws StoreError if it cannot be used. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const { url, dataDir, clock = systemClock, node = `sallyport ${crypto.randomUUID()}` } = options;
  const pool = openPool({ ...options, url, name: node });
  try {
    await migratePostgres(pool, { nowMs: clock.now(), create: options.create !== false, node });
    if (options.copying !== true) await requireWhole(pool);
    // Other programs report their changes. Reports may have been missed while nobody listened, so that counts as a
    // change.
    let changes = 0;
    await pool.listen(
      CHANGES,
      (by) => {
        if (by !== node) changes++;
      },
      () => changes++,
    );
    const heard: ((id: string) => void)[] = [];
    await pool.listen(
      JOB_ENDS,
      (id) => {
        for (const listener of heard) listener(id);
      },
      () => undefined,
    );
    const shared =
      clock === systemClock ? serverClock(pool) : { now: () => clock.now(), compare: async () => undefined };
    await shared.compare();
    return storeOf(pool, {
      dataDir,
      clock: shared,
      changes: () => changes,
      whenJobEnds: (one) => void heard.push(one),
    });
  } catch (error) {
    await pool.close();
    throw unusable(error);
  }
}

async function requireWhole({ query }: Pool): Promise<void> {
  const { values } = await query("SELECT to_regclass('copy_notes') IS NOT NULL", []);
  if (values[0]?.[0] === true)
    throw new StoreError(
      "The database of database.url was copied in part: run `sallyport migrate-database` again, which goes on with it.",
    );
}

function unusable(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(`The database of database.url cannot be used: ${(error as Error).message}`, { cause: error });
}

interface Parts {
  readonly dataDir: string;
  readonly clock: ComparedClock;
  readonly changes: () => number;
  readonly whenJobEnds: Store["whenJobEnds"];
}

function storeOf(pool: Pool, { dataDir, clock, changes, whenJobEnds }: Parts): PostgresStore {
  /** The connection of the statement that is being started; set only while a step of a transaction is called. */
  let own: Query | undefined;
  const query: Query = (text, values) => (own ?? pool.query)(text, values);
  const statement = <Row>(text: string) => statementOf<Row>(query, text);
  const first = statement("INSERT INTO done_batches (id, done_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING");
  const forget = statement("DELETE FROM done_batches WHERE done_at < ?");

  /** Calls a step so that its statements run on the transaction's connection. */
  const call = (on: Query, run: () => unknown): unknown => {
    own = on;
    try {
      return run();
    } finally {
      own = undefined;
    }
  };
  const runAll = async <T>(on: Query, work: Work<T>): Promise<T> => {
    let turn = work.next();
    while (!turn.done) turn = work.next(await answerOf(turn.value, (run) => call(on, run)));
    return turn.value;
  };

  return {
    engine: "postgres",
    dataDir,
    clock,
    compareClock: () => clock.compare(),
    pool,
    db: statementsOver(query),
    repeatable: statementsOver((text, values) => (own ?? pool.repeatable)(text, values)),
    statement,
    transaction: (work, { sees = "alone", isRepeatable = false, isLong = false }: TransactionOptions = {}) =>
      pool.transaction(
        sees === "alone" ? "serializable" : "read committed",
        (on, attempt) => runAll(on, work(attempt)),
        {
          isRepeatable,
          isLong,
        },
      ),
    isFirst: async (id) => (await first.run([id, clock.now()])).changes > 0,
    takingRows: " FOR UPDATE SKIP LOCKED",
    changeCounter: changes,
    whenJobEnds,
    ping: async () => void (await pool.query("SELECT 1 FROM _migrations LIMIT 1", [])),
    tidy: async () => {
      await forget.run([clock.now() - BATCH_KEPT_MS]);
      return 0;
    },
    // The server does so by itself.
    checkpoint: () => true,
    async size() {
      const { values } = await pool.query("SELECT pg_database_size(current_database())", []);
      return { bytes: Number(values[0]?.[0] ?? 0), freeBytes: 0, logBytes: 0 };
    },
    close: () => pool.close(),
  };
}

/** Runs one step, or several at once: the server runs them in order, and we do not wait in between. */
async function answerOf(step: Step, call: (run: () => unknown) => unknown): Promise<unknown> {
  if (typeof step === "function") return call(step);
  const ends = await Promise.allSettled(step.map((run) => call(run)));
  // The first failure is the cause; later ones only report that there was one.
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return undefined;
}

/** Drizzle builds statements and maps rows as for SQLite, and `query` runs them. */
function statementsOver(query: Query): Statements {
  const client = async (text: string, values: Bound[], method: "run" | "all" | "values" | "get") => {
    const { values: rows } = await query(translated(text).text, values);
    return { rows: method === "get" ? (rows[0] as unknown[]) : (rows as unknown[][]) };
  };
  const dialect = new SQLiteAsyncDialect();
  const session = new PlainSession(client as never, dialect, undefined, undefined, {});
  return new BaseSQLiteDatabase("async", dialect, session as never, undefined) as unknown as Statements;
}

/** Removes the wrapper around errors, which quotes the statement's values. */
class PlainSession extends SQLiteRemoteSession<Record<string, unknown>, never> {
  override prepareQuery(...given: Parameters<SQLiteRemoteSession<Record<string, unknown>, never>["prepareQuery"]>) {
    const prepared = super.prepareQuery(...given);
    const run = (_text: string, _values: unknown[], ask: () => Promise<unknown>) => ask();
    return Object.assign(prepared, { queryWithCache: run });
  }
}

function statementOf<Row>(query: Query, statement: string): Statement<Row> {
  const { text, names } = translated(statement);
  const run = (values: Values = []) => query(text, boundIn(values, names));
  return {
    get: async (values) => rowsOf<Row>(await run(values))[0] ?? null,
    all: async (values) => rowsOf<Row>(await run(values)),
    run: async (values) => ({ changes: (await run(values)).changes }),
  };
}

function boundIn(values: Values, names: readonly string[] | undefined): readonly Bound[] {
  if (isList(values)) return values;
  return (names ?? []).map((name) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`The statement has no value for $${name}.`);
    return value;
  });
}

function isList(values: Values): values is readonly Bound[] {
  return Array.isArray(values);
}

function rowsOf<Row>({ columns, values }: Rows): Row[] {
  return values.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])) as Row);
}
