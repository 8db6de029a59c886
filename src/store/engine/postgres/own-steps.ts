// Migrations that only PostgreSQL has: for data that SQLite's store keeps in files, or does not need.

import type { Migration } from "../migrate.ts";

/** In order, after the shared migrations. Append only: a released migration is never edited. */
export const OWN_STEPS: readonly Migration[] = [
  {
    name: "pg_0000_nodes",
    sql: `CREATE TABLE secrets (name TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL)
--> statement-breakpoint
CREATE TABLE file_chunks (
  file_id TEXT COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (file_id, seq)
)
--> statement-breakpoint
CREATE TABLE done_batches (id TEXT COLLATE "C" PRIMARY KEY, done_at BIGINT NOT NULL)
--> statement-breakpoint
CREATE TABLE nodes (
  name TEXT COLLATE "C" PRIMARY KEY,
  version TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
)
--> statement-breakpoint
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN PERFORM pg_notify('sallyport_changes', current_setting('application_name')); RETURN NULL; END $body$
--> statement-breakpoint
CREATE TRIGGER accounts_told AFTER INSERT OR UPDATE OR DELETE ON accounts
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER api_keys_told AFTER INSERT OR DELETE
OR UPDATE OF rpm, budget_micros, budget_period_ms, expires_at, revoked_at, no_store ON api_keys
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER account_budgets_told AFTER INSERT OR DELETE OR UPDATE OF own, limit_micros, period_ms ON account_budgets
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER decision_versions_told AFTER INSERT OR UPDATE OR DELETE ON decision_versions
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER decision_aliases_told AFTER INSERT OR UPDATE OR DELETE ON decision_aliases
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()`,
  },
  {
    // All columns of a key, including later ones, except those that its use changes.
    name: "pg_0001_key_changes",
    sql: `DROP TRIGGER api_keys_told ON api_keys
--> statement-breakpoint
CREATE TRIGGER api_keys_told AFTER INSERT OR DELETE ON api_keys
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER api_keys_changed_told AFTER UPDATE ON api_keys FOR EACH ROW
WHEN (to_jsonb(OLD) - '{spent_micros,last_used_at,budget_window_start}'::TEXT[]
  IS DISTINCT FROM to_jsonb(NEW) - '{spent_micros,last_used_at,budget_window_start}'::TEXT[])
EXECUTE FUNCTION tell_change()`,
  },
  {
    // The names of the migrations that a node knows, separated by spaces.
    name: "pg_0002_steps_of_nodes",
    sql: `ALTER TABLE nodes ADD COLUMN steps TEXT COLLATE "C" NOT NULL DEFAULT ''`,
    usableFrom: "pg_0001_key_changes",
  },
  {
    // Another node may be working on a job that ends, or that is deleted with its account. A program that does not know the
    // tokens of claims leaves that of the claim before: it must not hold for its worker any more.
    name: "pg_0003_job_ends",
    sql: `CREATE FUNCTION tell_job_end() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN PERFORM pg_notify('sallyport_job_ends', OLD.id); RETURN NULL; END $body$
--> statement-breakpoint
CREATE TRIGGER jobs_ended_told AFTER UPDATE OF state ON jobs FOR EACH ROW
WHEN (OLD.state IN ('queued', 'running') AND NEW.state NOT IN ('queued', 'running'))
EXECUTE FUNCTION tell_job_end()
--> statement-breakpoint
CREATE TRIGGER jobs_deleted_told AFTER DELETE ON jobs FOR EACH ROW
WHEN (OLD.state IN ('queued', 'running'))
EXECUTE FUNCTION tell_job_end()
--> statement-breakpoint
CREATE FUNCTION drop_old_lease() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN NEW.lease := NULL; RETURN NEW; END $body$
--> statement-breakpoint
CREATE TRIGGER jobs_lease_told BEFORE UPDATE OF owner ON jobs FOR EACH ROW
WHEN (OLD.lease IS NOT NULL AND NEW.lease = OLD.lease)
EXECUTE FUNCTION drop_old_lease()`,
    usableFrom: "pg_0001_key_changes",
  },
  {
    // All columns of a project except those that the use of its keys changes.
    name: "pg_0004_project_changes",
    sql: `CREATE TRIGGER projects_told AFTER INSERT OR DELETE ON projects
FOR EACH STATEMENT EXECUTE FUNCTION tell_change()
--> statement-breakpoint
CREATE TRIGGER projects_changed_told AFTER UPDATE ON projects FOR EACH ROW
WHEN (to_jsonb(OLD) - '{spent_micros,budget_window_start}'::TEXT[]
  IS DISTINCT FROM to_jsonb(NEW) - '{spent_micros,budget_window_start}'::TEXT[])
EXECUTE FUNCTION tell_change()`,
    usableFrom: "pg_0001_key_changes",
  },
];
