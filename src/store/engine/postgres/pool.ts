// Connections to PostgreSQL: few, with a queue of our own before them, and statements that are run again where the database
// says that nothing of them was done.

import postgres from "postgres";
import type { Bound } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** What a statement gives: rows as lists of values in the order of their columns, or how many it changed. */
export interface Rows {
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
  readonly changes: number;
}

/** Runs a statement. */
export type Query = (text: string, values: readonly Bound[]) => Promise<Rows>;

/** How a transaction is run. */
export type Isolation = "serializable" | "read committed" | "repeatable read read only";

/** Connections to one database. */
export interface Pool {
  readonly query: Query;
  /** Runs `work` in a transaction, and again from its start where others were in its way. */
  transaction<T>(isolation: Isolation, work: (query: Query) => Promise<T>): Promise<T>;
  /** Calls `heard` for each message on a channel, and `again` when messages may have been missed. */
  listen(channel: string, heard: (message: string) => void, again: () => void): Promise<void>;
  close(): Promise<void>;
}

/** How a pool is opened. */
export interface ConnectionOptions {
  readonly url: string;
  /** What the server calls this program. */
  readonly name: string;
  readonly connections?: number;
  /** How long a statement waits for a server that is not there (yet). */
  readonly waitMs?: number;
}

/** One more is held by a node for its name, and one listens. */
const CONNECTIONS = 8;
/** Statements that wait for a connection; more of them would only be late. */
const WAITING_MAX = 10_000;
const TRIES_MAX = 30;
/** A second look finds what was there; a third what came meanwhile. */
const LOOKS_MAX = 3;
const WAIT_MS = 10_000;
const CONNECT_SECONDS = 5;

/** Others were in the way and nothing was done: a conflict of what was read, a deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
/** The same for a transaction that looked before it wrote: what it did not see is there when it looks again. */
const TAKEN_MEANWHILE = new Set(["23505", "23503"]);
/** The statement did not reach the server. */
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOENT", "CONNECT_TIMEOUT", "57P03", "53300"]);
/** The connection ended on the way; what it had begun and not committed was undone. */
const CUT = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "ECONNRESET",
  "EPIPE",
  "57P01",
  "57P02",
]);

/** Whole numbers come back as numbers, sums of them too; truths as SQLite has them are taken for truths. */
const TYPES = {
  int8: { to: 20, from: [20], serialize: String, parse: Number },
  numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
  bool: {
    to: 16,
    from: [16],
    serialize: (value: unknown) => (value === true || value === 1 || value === "t" ? "t" : "f"),
    parse: (text: string) => text === "t",
  },
};

/** Opens connections as they are needed. */
export function openPool(options: ConnectionOptions): Pool {
  const { url, name, connections = CONNECTIONS, waitMs = WAIT_MS } = options;
  const sql = postgres(url, {
    max: connections,
    connect_timeout: CONNECT_SECONDS,
    // A waiting program keeps its connections: the next request is not to wait for one.
    idle_timeout: 0,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { application_name: name, client_encoding: "UTF8" },
    types: TYPES as never,
    backoff: (attempt) => Math.min(1, 0.05 * 2 ** attempt),
  });
  const place = places(connections);
  const giveUpAt = () => performance.now() + waitMs;

  return {
    query: (text, values) => {
      const isRead = /^\s*select\b/i.test(text);
      const until = giveUpAt();
      return trying(
        () => place(() => run(sql, text, values)),
        (code) =>
          CONFLICTS.has(code) || ((NOT_REACHED.has(code) || (isRead && CUT.has(code))) && performance.now() < until),
      );
    },
    transaction(isolation, work) {
      const until = giveUpAt();
      let isCommitting = false;
      return trying(
        () => {
          isCommitting = false;
          return place(
            () =>
              sql.begin(`isolation level ${isolation}`, async (own) => {
                const done = await work((text, values) => run(own, text, values));
                isCommitting = true;
                return done;
              }) as Promise<Awaited<ReturnType<typeof work>>>,
          );
        },
        (code, tries) =>
          CONFLICTS.has(code) ||
          (TAKEN_MEANWHILE.has(code) && tries < LOOKS_MAX) ||
          // Once a commit was sent, only the server knows whether it was done.
          ((NOT_REACHED.has(code) || (!isCommitting && CUT.has(code))) && performance.now() < until),
      );
    },
    async listen(channel, heard, again) {
      await sql.listen(channel, heard, again);
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

async function run(sql: postgres.Sql | postgres.TransactionSql, text: string, values: readonly Bound[]): Promise<Rows> {
  const bound = values.map((value) => boundAs(value, text));
  const rows = await sql.unsafe(text, bound as never[], { prepare: true }).values();
  return { columns: (rows.columns ?? []).map((column) => column.name), values: rows, changes: rows.count ?? 0 };
}

function boundAs(value: Bound | undefined, text: string): Bound {
  if (typeof value === "string") return withoutNul(value, text);
  // Sent to the server, it would keep its connection waiting.
  if (value === undefined) throw new TypeError("A statement has a value that is undefined.");
  return value;
}

/**
 * No text of this database holds NUL, and the verbs refuse to store one: what is looked for with one is looked for by a text
 * that is nowhere either.
 */
function withoutNul(value: string, text: string): string {
  if (!value.includes("\0")) return value;
  if (/^\s*insert\b/i.test(text)) throw new TypeError("A text with NUL cannot be stored.");
  return value.replaceAll("\0", "\u{10ffff}");
}

/** Runs `attempt` again while `again` says of an error's code that this is safe and of use. */
async function trying<T>(attempt: () => Promise<T>, again: (code: string, tries: number) => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const code = codeOf(error);
      if (tries >= TRIES_MAX || !again(code, tries)) throw told(error, code);
      // Longer each time, and each caller for another time, so that those in each other's way part.
      await new Promise((resolve) => setTimeout(resolve, Math.min(500, 2 ** Math.min(tries, 9)) * Math.random()));
    }
  }
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** The error as it may be logged: with what the server said, without the values of the statement. */
function told(error: unknown, code: string): unknown {
  if (code === "") return error;
  const text = error instanceof Error ? error.message : String(error);
  return new StoreError(`PostgreSQL (${code}): ${text}`);
}

/** Lets so many works run at once; the others wait in their order. */
function places(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else {
      if (waiting.length >= WAITING_MAX) throw new StoreError("Too much waits for the database.");
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
