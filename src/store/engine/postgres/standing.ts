// What all connections to PostgreSQL have in common, and those that stand for as long as the program: one holds a node's
// name, and one listens. Nothing is asked on them for long times, so they are asked at intervals whether they still answer.

import postgres from "postgres";

/** How soon the server notices that a node is gone that could not say so: until then it holds the node's locks. */
export const DEAD_PEER = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
/** How long a statement on a standing connection may take. */
const ANSWER_MS = 10_000;
const CONNECT_SECONDS = 5;

/** The options of every connection. A statement that is not answered within `deadlineMs` ends its connection. */
export function commonOptions(deadlineMs = ANSWER_MS) {
  return {
    connect_timeout: CONNECT_SECONDS,
    // Idle connections are kept, so that the next request need not wait for one.
    idle_timeout: 0,
    fetch_types: false,
    onnotice: () => undefined,
    backoff: (attempt: number) => Math.min(1, 0.05 * 2 ** attempt),
    statement_deadline: deadlineMs,
  };
}

/** The deadline of one statement, as an option of `unsafe`: the driver as patched here knows it. */
export function deadline(ms: number): { readonly deadline: number } {
  return { deadline: ms };
}

/** A connection that stands. */
export interface Standing {
  readonly sql: postgres.Sql;
  close(): Promise<void>;
}

/** How it is opened. */
export interface StandingOptions {
  readonly url: string;
  readonly name: string;
  readonly deadlineMs?: number | undefined;
  /** Called when it ends. The next statement opens another one. */
  lost(): void;
  /** Called with the messages of the channels that it listens to. */
  heard?(channel: string, message: string): void;
}

/** Opens it with the first statement. */
export function openStanding(options: StandingOptions): Standing {
  const { url, name, deadlineMs = ANSWER_MS, lost, heard } = options;
  const sql = postgres(url, {
    ...commonOptions(deadlineMs),
    max: 1,
    max_lifetime: null,
    onclose: lost,
    ...(heard === undefined ? {} : { onnotify: heard }),
    connection: { application_name: name, ...DEAD_PEER },
  });
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    // A connection that does not answer ends, and `lost` is told.
    await sql.unsafe("SELECT 1").catch(() => undefined);
    isAsking = false;
  }, deadlineMs / 2);
  timer.unref();
  return {
    sql,
    async close() {
      clearInterval(timer);
      await sql.end({ timeout: 1 });
    },
  };
}
