// Connections to PostgreSQL: a small number with our own queue in front of them. Statements are repeated if the
// database reports that they had no effect. Every statement has a deadline: a network that drops packets closes no
// connection, so a connection that is silent for too long is given up.

import postgres from "postgres";
import type { Bound } from "../store.ts";
import { StoreError, StoreUnreachable } from "../store-error.ts";
import { openEars } from "./ears.ts";
import { createPlaces } from "./places.ts";
import { commonOptions, DEAD_PEER, deadline } from "./standing.ts";

/** The result of a statement: rows as lists of values in the order of their columns, or the number of changed rows. */
export interface Rows {
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
  readonly changes: number;
}

/** Runs a statement. */
export type Query = (text: string, values: readonly Bound[]) => Promise<Rows>;

/** The options of a transaction. */
export type Isolation = "serializable" | "read committed" | "repeatable read read only";

/** How a transaction is run. */
export interface PoolTransactionOptions {
  /** Its statements may take as long as a migration or a copy does. */
  readonly isLong?: boolean;
  /** It has the same effect however often it is committed. */
  readonly isRepeatable?: boolean;
}

/** Connections to one database. */
export interface Pool {
  readonly query: Query;
  /**
   * Like `query`, for a statement that has the same effect however often it runs, or that adds a row with an id of its own: it is
   * repeated when its connection was cut.
   */
  readonly repeatable: Query;
  /** Runs `work` in a transaction, and repeats it from its start after a conflict with others; it is told the number of the attempt. */
  transaction<T>(
    isolation: Isolation,
    work: (query: Query, attempt: number) => Promise<T>,
    options?: PoolTransactionOptions,
  ): Promise<T>;
  /** Calls `heard` for each message on a channel, and `again` when messages may have been missed. */
  listen(channel: string, heard: (message: string) => void, again: () => void): Promise<void>;
  close(): Promise<void>;
}

/** How a pool is opened. */
export interface ConnectionOptions {
  readonly url: string;
  /** The name of this program for the server. */
  readonly name: string;
  readonly connections?: number;
  /** How long a statement waits: for a connection, for a server that cannot be reached, and for its result. */
  readonly waitMs?: number;
  /** Told when the server is not reached any more, with the cause, and when it is again. */
  readonly reached?: (isUp: boolean, cause?: unknown) => void;
  /** How long a transaction may wait for this program. */
  readonly idleInTransactionMs?: number;
}

/** Two more are used: one holds a node's name, and one listens. */
const CONNECTIONS = 8;
const TRIES_MAX = 30;
/** The second attempt finds the rows that caused the first conflict, the third those that were added meanwhile. */
const LOOKS_MAX = 3;
const WAIT_MS = 10_000;
/** A statement that waited long for a connection still has this much time. */
const STATEMENT_MS_MIN = 1000;
/** Migrations of large tables, and copies of them. */
const LONG_MS = 3_600_000;
/** The server ends a slow statement a little earlier than we give up its connection, which then can be used on. */
const SERVER_PART = 0.9;
/**
 * A node that stalls or is cut off within a transaction holds locks for which the others wait, so the server ends the
 * transaction after this time.
 */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** A conflict with others, which had no effect: a serialization failure or a deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
/** The same for a transaction that reads before it writes: at the next attempt it sees the row that it missed. */
const UNIQUE = "23505";
const TAKEN_MEANWHILE = new Set([UNIQUE, "23503"]);
const NO_ROWS: Rows = { columns: [], values: [], changes: 0 };
/** The statement did not reach the server. */
const NOT_REACHED = new Set([
  ...[
    "ECONNREFUSED",
    "ENOENT",
    "CONNECT_TIMEOUT",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ETIMEDOUT",
  ],
  ...["57P03", "53300"],
]);
/** The connection ended meanwhile; uncommitted changes were rolled back. */
const CUT = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "ANSWER_TIMEOUT",
  "ECONNRESET",
  "EPIPE",
  "57P01",
  "57P02",
  // The transaction waited too long for this program.
  "25P03",
]);

/** The server ended a statement that took too long. */
const TOO_SLOW = "57014";

/** The server takes no writes or no connections: it is a standby, its disk is full, or the user was changed. */
const REFUSING = new Set(["25006", "53100", "53200", "28000", "28P01", "3D000"]);

/** Integers are returned as numbers, also from sums; SQLite's numbers are accepted as booleans. */
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
  const { idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = options;
  const sql = postgres(url, {
    ...commonOptions(waitMs),
    max: connections,
    connection: {
      application_name: name,
      client_encoding: "UTF8",
      idle_in_transaction_session_timeout: idleInTransactionMs,
      statement_timeout: Math.ceil(waitMs * SERVER_PART),
      ...DEAD_PEER,
    },
    types: TYPES as never,
  });
  const place = createPlaces(connections);
  const trying = retrying(options.reached ?? (() => undefined));
  const giveUpAt = () => performance.now() + waitMs;
  const ears = openEars({ url, name, waitMs });

  const queryOf =
    (isRepeatable: boolean): Query =>
    (text, values) => {
      const repeats = isRepeatable || /^\s*select\b/i.test(text);
      const until = giveUpAt();
      let wasCut = false;
      const attempt = async () => {
        try {
          return await place(until, () => run(sql, text, { values, deadlineMs: leftMs(until) }));
        } catch (error) {
          const code = codeOf(error);
          // An attempt that was cut has added the row.
          if (isRepeatable && wasCut && code === UNIQUE) return NO_ROWS;
          wasCut ||= CUT.has(code);
          throw error;
        }
      };
      return trying(
        attempt,
        (code) =>
          CONFLICTS.has(code) || ((NOT_REACHED.has(code) || (repeats && CUT.has(code))) && performance.now() < until),
      );
    };
  return {
    query: queryOf(false),
    repeatable: queryOf(true),
    transaction(isolation, work, { isLong = false, isRepeatable = false } = {}) {
      const until = giveUpAt();
      let isCommitting = false;
      return trying(
        (attempt) => {
          isCommitting = false;
          return place(
            until,
            () =>
              sql.begin(`isolation level ${isolation}`, async (own) => {
                const deadlineMs = isLong ? LONG_MS : waitMs;
                // A snapshot holds no locks for which others wait, and its reader may be slow.
                if (isolation === "repeatable read read only")
                  await run(own, "SET LOCAL idle_in_transaction_session_timeout = 0", { deadlineMs });
                if (isLong) await run(own, `SET LOCAL statement_timeout = ${LONG_MS}`, { deadlineMs });
                const done = await work((text, values) => run(own, text, { values, deadlineMs }), attempt);
                isCommitting = true;
                return done;
              }) as Promise<Awaited<ReturnType<typeof work>>>,
          );
        },
        (code, tries) =>
          CONFLICTS.has(code) ||
          (TAKEN_MEANWHILE.has(code) && tries < LOOKS_MAX) ||
          // Once a commit was sent, only the server knows whether it took effect.
          ((NOT_REACHED.has(code) || ((isRepeatable || !isCommitting) && CUT.has(code))) && performance.now() < until),
      );
    },
    listen: ears.listen,
    async close() {
      await Promise.all([ears.close(), sql.end({ timeout: 5 })]);
    },
  };
}

/** The time that a statement has when the wait of its caller ends at `until`. */
function leftMs(until: number): number {
  return Math.max(STATEMENT_MS_MIN, until - performance.now());
}

interface RunOptions {
  readonly values?: readonly Bound[];
  readonly deadlineMs: number;
}

async function run(
  sql: postgres.Sql | postgres.TransactionSql,
  text: string,
  { values = [], deadlineMs }: RunOptions,
): Promise<Rows> {
  const bound = values.map((value) => boundAs(value, text));
  const rows = await sql.unsafe(text, bound as never[], { prepare: true, ...deadline(deadlineMs) }).values();
  return { columns: (rows.columns ?? []).map((column) => column.name), values: rows, changes: rows.count ?? 0 };
}

function boundAs(value: Bound | undefined, text: string): Bound {
  if (typeof value === "string") return withoutNul(value, text);
  // If it were sent, the server would keep its connection waiting.
  if (value === undefined) throw new TypeError("A statement has a value that is undefined.");
  return value;
}

/**
 * No text in this database contains NUL, and the verbs refuse to store one. A search for a text with NUL is therefore
 * replaced with a search for a text that does not occur.
 */
function withoutNul(value: string, text: string): string {
  if (!value.includes("\0")) return value;
  if (/^\s*insert\b/i.test(text)) throw new TypeError("A text with NUL cannot be stored.");
  return value.replaceAll("\0", "\u{10ffff}");
}

/**
 * Repeats `attempt` while `again` returns true for an error's code, which means that a repetition is safe and useful. Tells
 * `reached` whenever the server begins or ceases to answer.
 */
function retrying(reached: NonNullable<ConnectionOptions["reached"]>) {
  let isUp = true;
  const tell = (now: boolean, cause?: unknown) => {
    if (now !== isUp) reached(now, cause);
    isUp = now;
  };
  return async <T>(
    attempt: (tries: number) => Promise<T>,
    again: (code: string, tries: number) => boolean,
  ): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        const done = await attempt(tries);
        tell(true);
        return done;
      } catch (error) {
        const code = codeOf(error);
        if (NOT_REACHED.has(code) || CUT.has(code) || REFUSING.has(code)) tell(false, told(error, code));
        await repeat(error, { code, tries, again });
      }
    }
  };
}

/** Waits before the next attempt. Throws the error if there should be none. */
async function repeat(
  error: unknown,
  { code, tries, again }: { code: string; tries: number; again: (code: string, tries: number) => boolean },
): Promise<void> {
  if (tries >= TRIES_MAX || !again(code, tries)) throw told(error, code);
  // The pause grows and is random, so that conflicting callers do not meet again.
  await new Promise((resolve) => setTimeout(resolve, Math.min(500, 2 ** Math.min(tries, 9)) * Math.random()));
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** The error in a form that may be logged: with the server's message, without the values of the statement. */
function told(error: unknown, code: string): unknown {
  if (code === "") return error;
  const text = error instanceof Error ? error.message : String(error);
  const isDown = NOT_REACHED.has(code) || CUT.has(code) || REFUSING.has(code) || code === TOO_SLOW;
  return new (isDown ? StoreUnreachable : StoreError)(`PostgreSQL (${code}): ${text}`);
}
