// Brings a PostgreSQL database to this program's schema: SQLite's migrations in PostgreSQL's SQL, and those that only
// PostgreSQL has. All missing migrations are applied in one transaction, by one program at a time. A newer schema is
// refused.

import { MIGRATIONS, type Migration } from "../migrate.ts";
import { StoreError } from "../store-error.ts";
import { postgresStatements } from "./ddl.ts";
import { OWN_STEPS } from "./own-steps.ts";
import type { Pool, Query } from "./pool.ts";

/** The lock of a program that changes the schema. */
const LOCK = 7_255_019_401;
/** The last migration before PostgreSQL was supported. No database has rows when it is applied. */
const BASE = "0010_keys_without_store";

/** All migrations in order. The shared ones come first, since the others build on them. */
const STEPS: readonly Migration[] = [...MIGRATIONS, ...OWN_STEPS];

/** Applies the missing migrations and returns their names. */
export async function migratePostgres(
  pool: Pool,
  { nowMs, create, steps = STEPS }: { nowMs: number; create: boolean; steps?: readonly Migration[] },
): Promise<string[]> {
  const missing = missingOf(await appliedSteps(pool.query), steps);
  if (missing.length === 0) return [];
  if (missing.length === steps.length && !create)
    throw new StoreError("The database of database.url has no tables of Sallyport yet. Start `sallyport serve` once.");
  return pool.transaction("read committed", async (query) => {
    await query(`SELECT pg_advisory_xact_lock(${LOCK})`, []);
    await requireUtf8(query);
    await query(
      'CREATE TABLE IF NOT EXISTS _migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)',
      [],
    );
    // Read again under the lock, since another program may have applied them meanwhile.
    const applied: string[] = [];
    for (const step of missingOf(await appliedSteps(query), steps)) {
      for (const text of statementsOf(step)) await query(text, []);
      await query("INSERT INTO _migrations (name, applied_at) VALUES ($1, $2)", [step.name, nowMs]);
      applied.push(step.name);
    }
    return applied;
  });
}

function statementsOf(step: Migration): string[] {
  if (OWN_STEPS.includes(step)) return step.sql.split("--> statement-breakpoint");
  return postgresStatements(step, step.name <= BASE);
}

async function appliedSteps(query: Query): Promise<ReadonlySet<unknown>> {
  const there = await query("SELECT to_regclass('_migrations') IS NOT NULL", []);
  if (there.values[0]?.[0] !== true) return new Set();
  const { values } = await query("SELECT name FROM _migrations", []);
  return new Set(values.map(([name]) => name));
}

function missingOf(done: ReadonlySet<unknown>, steps: readonly Migration[]): Migration[] {
  const names = new Set<unknown>(steps.map(({ name }) => name));
  for (const name of done) {
    if (!names.has(name))
      throw new StoreError(
        `The database of database.url was made by a newer version of Sallyport (it has migration ${name}). Upgrade this node.`,
      );
  }
  return steps.filter(({ name }) => !done.has(name));
}

async function requireUtf8(query: Query): Promise<void> {
  const { values } = await query("SHOW server_encoding", []);
  if (values[0]?.[0] !== "UTF8")
    throw new StoreError(
      `The database of database.url has the encoding ${values[0]?.[0]}. Make one with ENCODING 'UTF8'.`,
    );
}
