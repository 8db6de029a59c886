// Brings a PostgreSQL database to this program's schema: SQLite's migrations in PostgreSQL's SQL, and those that only
// PostgreSQL has. All missing migrations are applied in one transaction, by one program at a time. During an upgrade, nodes
// of two versions run side by side: a newer schema is accepted if its steps say so, and a step that a live node could not
// use is not applied.

import { VERSION } from "../../../base/version.ts";
import { type AppliedStep, MIGRATIONS, type Migration, refuseNewer } from "../migrate.ts";
import { StoreError } from "../store-error.ts";
import { postgresStatements } from "./ddl.ts";
import { OWN_STEPS } from "./own-steps.ts";
import type { Pool, Query } from "./pool.ts";

/** The lock of a program that changes the schema. */
const LOCK = 7_255_019_401;
/** The last migration before PostgreSQL was supported. No database has rows when it is applied. */
const BASE = "0010_keys_without_store";

/** A node that was not seen for this long counts as gone. */
export const NODE_GONE_MS = 15_000;

/** All migrations in order. The shared ones come first, since the others build on them. */
const STEPS: readonly Migration[] = [...MIGRATIONS, ...OWN_STEPS];

/** The names of the migrations that this program knows. */
export const KNOWN_STEPS: readonly string[] = STEPS.map(({ name }) => name);

/** How a database is brought to this program's schema. */
export interface MigrateOptions {
  readonly nowMs: number;
  /** If false, throws when the database does not have our tables yet. */
  readonly create: boolean;
  /** This program's own name among the nodes. */
  readonly node: string;
  readonly steps?: readonly Migration[];
}

/** Applies the missing migrations and returns their names. */
export async function migratePostgres(pool: Pool, options: MigrateOptions): Promise<string[]> {
  const { nowMs, create, node, steps = STEPS } = options;
  const missing = missingOf(await appliedSteps(pool.query), steps);
  if (missing.length === 0) return [];
  if (missing.length === steps.length && !create)
    throw new StoreError(
      "The database of database.url does not have Sallyport's tables yet. Start `sallyport serve` once.",
    );
  const migrateAll = async (query: Query) => {
    await query(`SELECT pg_advisory_xact_lock(${LOCK})`, []);
    await requireUtf8(query);
    await query(
      'CREATE TABLE IF NOT EXISTS _migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)',
      [],
    );
    for (const column of ['usable_from TEXT COLLATE "C"', "version TEXT"])
      await query(`ALTER TABLE _migrations ADD COLUMN IF NOT EXISTS ${column}`, []);
    // Read again under the lock, since another program may have applied them meanwhile.
    const missing = missingOf(await appliedSteps(query), steps);
    await requireUsable(query, missing, node);
    for (const step of missing) {
      for (const text of statementsOf(step)) await query(text, []);
      const { name, usableFrom = null } = step;
      await query("INSERT INTO _migrations (name, applied_at, usable_from, version) VALUES ($1, $2, $3, $4)", [
        ...[name, nowMs, usableFrom, VERSION],
      ]);
    }
    return missing.map(({ name }) => name);
  };
  return pool.transaction("read committed", migrateAll, { isLong: true });
}

function statementsOf(step: Migration): string[] {
  if (OWN_STEPS.includes(step)) return step.sql.split("--> statement-breakpoint");
  return postgresStatements(step, step.name <= BASE);
}

/** A migration of a database whose nodes may have two versions. */
interface SharedStep extends AppliedStep {
  readonly usableFrom: unknown;
}

async function appliedSteps(query: Query): Promise<readonly SharedStep[]> {
  if (!(await hasTable(query, "_migrations"))) return [];
  // Older versions made the table without these columns.
  const { values } = await query(
    "SELECT name, to_jsonb(m) ->> 'usable_from', to_jsonb(m) ->> 'version' FROM _migrations m",
    [],
  );
  return values.map(([name, usableFrom, version]) => ({
    name: String(name),
    usableFrom,
    version: version as string | null,
  }));
}

async function hasTable(query: Query, name: string): Promise<boolean> {
  const { values } = await query("SELECT to_regclass($1) IS NOT NULL", [name]);
  return values[0]?.[0] === true;
}

function missingOf(applied: readonly SharedStep[], steps: readonly Migration[]): Migration[] {
  const known = new Set<unknown>(steps.map(({ name }) => name));
  refuseNewer(
    applied.filter(({ name, usableFrom }) => !known.has(name) && !known.has(usableFrom)),
    ["The database of database.url", "Upgrade this node."],
  );
  const done = new Set(applied.map(({ name }) => name));
  return steps.filter(({ name }) => !done.has(name));
}

/** Throws if a live node of another version could not use the database any more. */
async function requireUsable(query: Query, missing: readonly Migration[], self: string): Promise<void> {
  if (missing.length === 0 || !(await hasTable(query, "nodes"))) return;
  const { values } = await query(
    `SELECT name, version, to_jsonb(n) ->> 'steps' FROM nodes n
     WHERE name <> $1 AND seen_at > extract(epoch FROM clock_timestamp()) * 1000 - ${NODE_GONE_MS}`,
    [self],
  );
  for (const [name, version, steps] of values) {
    const known = new Set(String(steps ?? "").split(" "));
    const tooNew = missing.find(({ usableFrom }) => usableFrom === undefined || !known.has(usableFrom));
    if (tooNew !== undefined)
      throw new StoreError(
        `The node ${name} (version ${version}) could not use the database any more after migration ${tooNew.name}. Stop all nodes of that version first.`,
      );
  }
}

async function requireUtf8(query: Query): Promise<void> {
  const { values } = await query("SHOW server_encoding", []);
  if (values[0]?.[0] !== "UTF8")
    throw new StoreError(
      `The database of database.url has the encoding ${values[0]?.[0]}. Make one with ENCODING 'UTF8'.`,
    );
}
