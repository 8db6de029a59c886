// A private PostgreSQL server for the tests of one process. It is created in a temporary folder when the first test
// needs it, and removed when the process ends in any way. Each test has its own database. If PostgreSQL is not
// installed, there is none.

import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";

/** The database of one test. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Sets the clock that connections to this database see, by this much from the real one. Those that are open see it too. */
  setClock(aheadMs: number): Promise<void>;
  /** Deletes all rows except those of the migrations. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

/** The running server. */
export interface TestServer {
  readonly port: number;
  /** Creates an empty database. */
  database(): Promise<TestDatabase>;
  /** Creates a copy of the database that `prepare` filled, which is done once in each process. */
  copyOf(template: string, prepare: (url: string) => Promise<void>): Promise<TestDatabase>;
  /** Ends the server at once, as a crash would, and starts it again. */
  restart(): Promise<void>;
}

/** Whether PostgreSQL is installed here. */
export const HAS_POSTGRES = binary("postgres") !== undefined && binary("initdb") !== undefined;

let started: Promise<TestServer> | undefined;

/** The server of this process. */
export function testPostgres(): Promise<TestServer> {
  started ??= start();
  return started;
}

function binary(name: string): string | undefined {
  const found = Bun.which(name);
  if (found !== null) return found;
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) return undefined;
  return readdirSync(versions)
    .map((version) => join(versions, version, "bin", name))
    .find((path) => existsSync(path));
}

/** PostgreSQL refuses to run as root. */
function asItsUser(): string[] {
  return process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
}

// A commit must survive the end of the server, but not of the machine.
const SETTINGS = [
  "fsync=off",
  "full_page_writes=off",
  "autovacuum=off",
  "shared_buffers=32MB",
  "max_connections=200",
  "unix_socket_directories=",
];

async function start(): Promise<TestServer> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-postgres-"));
  if (process.getuid?.() === 0) await checked(["chown", "postgres:postgres", dir]);
  const data = join(dir, "data");
  const initdb = [binary("initdb") ?? "", "-D", data, "-U", "test", "--auth=trust", "--encoding=UTF8", "--no-sync"];
  await checked([...asItsUser(), ...initdb, "--locale=C"]);
  const port = freePort();
  const command = [...asItsUser(), binary("postgres") ?? "", "-D", data, "-p", String(port), "-h", "127.0.0.1"];
  const run = [...command, ...SETTINGS.flatMap((setting) => ["-c", setting])];
  // The shell outlives this process for a moment. When its input ends, for any reason, it removes the server and the
  // folder.
  const script = `
    "$@" 2>"$DIR/log" & server=$!
    while read -r number; do
      kill -QUIT $server; wait $server
      "$@" 2>>"$DIR/log" & server=$!
      echo "$number" >"$DIR/restarted"
    done
    kill -QUIT $server; wait $server; rm -rf "$DIR"`;
  const shell = Bun.spawn(["sh", "-c", script, "sh", ...run], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, DIR: dir },
  });
  // The server must not keep the process alive.
  shell.unref();
  const urlOf = (name: string) => `postgres://test@127.0.0.1:${port}/${name}`;
  await answers(urlOf("postgres"));
  const admin = postgres(urlOf("postgres"), { max: 1, onnotice: () => undefined, idle_timeout: 1 });
  const drop = (name: string) => async () => void (await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const templates = new Map<string, Promise<void>>();
  let count = 0;
  let restarts = 0;
  const make = async (template: string): Promise<TestDatabase> => {
    const name = `test_${++count}`;
    await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    const url = urlOf(name);
    const clearing = clearer(url);
    return {
      url,
      name,
      setClock: (aheadMs) => setClock(url, name, aheadMs),
      clear: clearing.clear,
      drop: () => clearing.end().then(drop(name)),
    };
  };
  return {
    port,
    database: () => make("template0"),
    async copyOf(template, prepare) {
      let prepared = templates.get(template);
      if (prepared === undefined) {
        prepared = admin.unsafe(`CREATE DATABASE ${template} TEMPLATE template0`).then(() => prepare(urlOf(template)));
        templates.set(template, prepared);
      }
      await prepared;
      return make(template);
    },
    async restart() {
      const number = String(++restarts);
      shell.stdin.write(`${number}\n`);
      await shell.stdin.flush();
      const told = join(dir, "restarted");
      while (!existsSync(told) || readFileSync(told, "utf8").trim() !== number) await Bun.sleep(10);
      await answers(urlOf("postgres"));
    },
  };
}

async function checked(command: string[]): Promise<void> {
  const done = Bun.spawn(command, { stdout: "ignore", stderr: "pipe", env: { ...process.env, LC_ALL: "C" } });
  if ((await done.exited) !== 0) throw new Error(`${command.join(" ")}: ${await new Response(done.stderr).text()}`);
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = server;
  server.stop(true);
  return port;
}

/** A function of our own stands before the server's in the search path. */
async function setClock(url: string, name: string, aheadMs: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql.unsafe(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
    await sql.unsafe(`CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
      AS $$ SELECT pg_catalog.clock_timestamp() + interval '${aheadMs} milliseconds' $$`);
  } finally {
    await sql.end();
  }
}

/** Rows are deleted, since truncating would create every file again. The connection is kept, as it is used after each test. */
function clearer(url: string): { clear(): Promise<void>; end(): Promise<void> } {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, idle_timeout: 1 });
  let deletions: string | undefined;
  return {
    async clear() {
      // Rows that refer to others are deleted with them, or were deleted before.
      deletions ??= (await tablesOf(sql)).map((name) => `DELETE FROM ${name};`).join("");
      await sql.unsafe(deletions);
    },
    end: () => sql.end(),
  };
}

async function tablesOf(sql: postgres.Sql): Promise<string[]> {
  const tables = await sql`SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> '_migrations'`;
  return tables.map(({ relname }) => String(relname));
}

/** Waits until a server answers at the address. */
async function answers(url: string): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
    try {
      await sql`SELECT 1`;
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    } finally {
      await sql.end({ timeout: 1 });
    }
    await Bun.sleep(20);
  }
}
