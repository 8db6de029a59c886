// Migrates a database to this program's schema. The numbered files are embedded in the executable. All missing ones are
// applied together or not at all, exactly once, even if two processes start together. The database of a newer program
// is refused.

import type { Database } from "bun:sqlite";
import { VERSION } from "../../base/version.ts";
import init from "../migrations/0000_init.sql" with { type: "text" };
import accessAndWork from "../migrations/0001_access_and_work.sql" with { type: "text" };
import decisions from "../migrations/0002_decisions.sql" with { type: "text" };
import jobAnswers from "../migrations/0003_job_answers.sql" with { type: "text" };
import attempts from "../migrations/0004_attempts.sql" with { type: "text" };
import accountBudgets from "../migrations/0005_account_budgets.sql" with { type: "text" };
import accountStorage from "../migrations/0006_account_storage.sql" with { type: "text" };
import responsesOrder from "../migrations/0007_responses_order.sql" with { type: "text" };
import threadSummaries from "../migrations/0008_thread_summaries.sql" with { type: "text" };
import threadItems from "../migrations/0009_thread_items.sql" with { type: "text" };
import keysWithoutStore from "../migrations/0010_keys_without_store.sql" with { type: "text" };
import keyModels from "../migrations/0011_key_models.sql" with { type: "text" };
import requestLog from "../migrations/0012_request_log.sql" with { type: "text" };
import keyDebug from "../migrations/0013_key_debug.sql" with { type: "text" };
import jobLease from "../migrations/0014_job_lease.sql" with { type: "text" };
import decisionPriors from "../migrations/0015_decision_priors.sql" with { type: "text" };
import threadRows from "../migrations/0016_thread_rows.sql" with { type: "text" };
import largeValues from "../migrations/0017_large_values.sql" with { type: "text" };
import answerIds from "../migrations/0018_answer_ids.sql" with { type: "text" };
import cachedAnswers from "../migrations/0019_cached_answers.sql" with { type: "text" };
import usageByRowId from "../migrations/0020_usage_by_row_id.sql" with { type: "text" };
import keyMcpServers from "../migrations/0021_key_mcp_servers.sql" with { type: "text" };
import projects from "../migrations/0022_projects.sql" with { type: "text" };
import keyManagement from "../migrations/0023_key_management.sql" with { type: "text" };
import usageDimensions from "../migrations/0024_usage_dimensions.sql" with { type: "text" };
import agentRuns from "../migrations/0025_agent_runs.sql" with { type: "text" };
import alerts from "../migrations/0026_alerts.sql" with { type: "text" };
import groupPlans from "../migrations/0027_group_plans.sql" with { type: "text" };
import wholeAnswerIds from "../migrations/0028_whole_answer_ids.sql" with { type: "text" };
import { StoreError } from "./store-error.ts";

/** One numbered migration. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /**
   * PostgreSQL, where nodes of two versions run side by side during an upgrade: the oldest step whose programs can still use the
   * database after this one. Absent: only programs that know this step itself.
   */
  readonly usableFrom?: string;
}

/** All migrations in order. Append only: a released migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_init", sql: init },
  { name: "0001_access_and_work", sql: accessAndWork },
  { name: "0002_decisions", sql: decisions },
  { name: "0003_job_answers", sql: jobAnswers },
  { name: "0004_attempts", sql: attempts },
  { name: "0005_account_budgets", sql: accountBudgets },
  { name: "0006_account_storage", sql: accountStorage },
  { name: "0007_responses_order", sql: responsesOrder },
  { name: "0008_thread_summaries", sql: threadSummaries },
  { name: "0009_thread_items", sql: threadItems },
  { name: "0010_keys_without_store", sql: keysWithoutStore },
  { name: "0011_key_models", sql: keyModels },
  { name: "0012_request_log", sql: requestLog },
  { name: "0013_key_debug", sql: keyDebug },
  { name: "0014_job_lease", sql: jobLease, usableFrom: "0013_key_debug" },
  { name: "0015_decision_priors", sql: decisionPriors, usableFrom: "0014_job_lease" },
  { name: "0016_thread_rows", sql: threadRows, usableFrom: "0014_job_lease" },
  // Programs before it cannot read the values of megabytes that are stored after it: such an answer is an error to them, such a
  // thread empty.
  { name: "0017_large_values", sql: largeValues, usableFrom: "0014_job_lease" },
  { name: "0018_answer_ids", sql: answerIds, usableFrom: "0014_job_lease" },
  { name: "0019_cached_answers", sql: cachedAnswers, usableFrom: "0014_job_lease" },
  { name: "0020_usage_by_row_id", sql: usageByRowId, usableFrom: "0014_job_lease" },
  { name: "0021_key_mcp_servers", sql: keyMcpServers, usableFrom: "0014_job_lease" },
  { name: "0022_projects", sql: projects, usableFrom: "0014_job_lease" },
  { name: "0023_key_management", sql: keyManagement, usableFrom: "0014_job_lease" },
  { name: "0024_usage_dimensions", sql: usageDimensions, usableFrom: "0014_job_lease" },
  { name: "0025_agent_runs", sql: agentRuns, usableFrom: "0014_job_lease" },
  { name: "0026_alerts", sql: alerts, usableFrom: "0014_job_lease" },
  { name: "0027_group_plans", sql: groupPlans, usableFrom: "0014_job_lease" },
  // Older programs still find their own answers, by the rows of the account.
  { name: "0028_whole_answer_ids", sql: wholeAnswerIds, usableFrom: "0014_job_lease" },
];

/**
 * The names of the missing migrations; all of them for a new database. Throws StoreError if a newer version made it.
 */
export function pendingSteps(sqlite: Database, steps: readonly Migration[] = MIGRATIONS): string[] {
  sqlite.run("CREATE TABLE IF NOT EXISTS _migrations (name TEXT PRIMARY KEY NOT NULL, applied_at INTEGER NOT NULL)");
  return missing(sqlite, steps).map(({ name }) => name);
}

/** Applies the missing migrations, all or none; returns their names. */
export function migrate(sqlite: Database, nowMs: number, steps: readonly Migration[] = MIGRATIONS): string[] {
  if (pendingSteps(sqlite, steps).length === 0) return [];
  // A migration that rebuilds a table would delete rows by cascade. The pragma has no effect inside a transaction.
  sqlite.run("PRAGMA foreign_keys = OFF");
  try {
    // Checked again under the write lock, since another process may have applied them meanwhile.
    const applyAll = sqlite.transaction(() => {
      rememberVersions(sqlite);
      return missing(sqlite, steps).map((step) => apply(sqlite, step, nowMs));
    });
    return applyAll.immediate();
  } finally {
    sqlite.run("PRAGMA foreign_keys = ON");
  }
}

function apply(sqlite: Database, step: Migration, nowMs: number): string {
  sqlite.run(step.sql);
  const orphans = sqlite.query("PRAGMA foreign_key_check").all();
  if (orphans.length > 0) throw new StoreError(`Migration ${step.name} would leave ${orphans.length} orphaned rows.`);
  sqlite.query("INSERT INTO _migrations (name, applied_at, version) VALUES (?, ?, ?)").run(step.name, nowMs, VERSION);
  return step.name;
}

/** Older programs made the table without the version that applied a migration. */
function rememberVersions(sqlite: Database): void {
  const columns = sqlite.query("PRAGMA table_info(_migrations)").all() as { name: string }[];
  if (columns.every(({ name }) => name !== "version")) sqlite.run("ALTER TABLE _migrations ADD COLUMN version TEXT");
}

function missing(sqlite: Database, steps: readonly Migration[]): Migration[] {
  const rows = sqlite.query("SELECT * FROM _migrations").all() as AppliedStep[];
  const done = new Set(rows.map((row) => row.name));
  const known = new Set(steps.map((step) => step.name));
  refuseNewer(
    rows.filter(({ name }) => !known.has(name)),
    ["The database", "Start that version, or restore a backup of this one."],
  );
  return steps.filter((step) => !done.has(step.name));
}

/** A migration that a database has. */
export interface AppliedStep {
  readonly name: string;
  /** That of the program which applied it; absent if it was one that did not write it down. */
  readonly version?: string | null;
}

/** Throws a StoreError that names the version to use if a database has migrations that this program cannot use. */
export function refuseNewer(unknown: readonly AppliedStep[], [what, advice]: readonly [string, string]): void {
  const last = [...unknown].sort((a, b) => (a.name < b.name ? -1 : 1)).at(-1);
  if (last === undefined) return;
  const version = typeof last.version === "string" ? `${last.version} or newer; ` : "";
  throw new StoreError(
    `${what} was made by a newer version of Sallyport (${version}it has migration ${last.name}). ${advice}`,
  );
}
