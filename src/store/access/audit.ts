// The audit log: security events of an account. Kept for a year.

import { and, desc, eq, getTableColumns, lt } from "drizzle-orm";
import { storable } from "../../base/storable.ts";
import type { Store } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { auditLog } from "./schema.ts";

/** An entry to write. */
export interface AuditEntry {
  readonly accountId: string;
  /** For example `login`, `login_failed`, `password_changed`, `refresh_reused`. */
  readonly event: string;
  readonly address: string;
  readonly userAgent: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Verbs over the audit log. */
export type AuditStore = ReturnType<typeof auditStore>;

const DELETE_BATCH = 500;
const PAGE_MAX = 200;
const USER_AGENT_CHARS = 300;

/** Builds the verbs. */
export function auditStore(store: Store) {
  const { db, clock, statement } = store;
  // The account is selected, so that an event of an account that was just deleted inserts nothing.
  const add = statement(
    `INSERT INTO audit_log (account_id, event, address, user_agent, detail, created_at)
     SELECT id, ?, ?, ?, ?, ? FROM accounts WHERE id = ?`,
  );
  const deleteOld = statement(
    "DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE created_at < ? LIMIT ?)",
  );
  return {
    /** Writes an entry; does nothing if the account is gone. */
    async addAudit(entry: AuditEntry): Promise<void> {
      const detail = JSON.stringify(entry.detail ?? {});
      const userAgent = storable(entry.userAgent.slice(0, USER_AGENT_CHARS));
      await add.run([entry.event, entry.address, userAgent, detail, clock.now(), entry.accountId]);
    },
    /** An account's entries, newest first, older than the entry `beforeId`. */
    async listAudit(accountId: string, options: { beforeId?: number; limit?: number } = {}) {
      const older = options.beforeId === undefined ? undefined : lt(auditLog.id, options.beforeId);
      return db
        .select()
        .from(auditLog)
        .where(and(eq(auditLog.accountId, accountId), older))
        .orderBy(desc(auditLog.id))
        .limit(Math.min(options.limit ?? 50, PAGE_MAX))
        .all();
    },
    /** Entries of all accounts, or of one or of one kind, newest first, older than the entry `beforeId`. */
    async searchAudit(options: { accountId?: string; event?: string; beforeId?: number; limit?: number } = {}) {
      const { accountId, event, beforeId, limit = 50 } = options;
      return db
        .select({ ...getTableColumns(auditLog), username: accounts.username })
        .from(auditLog)
        .innerJoin(accounts, eq(accounts.id, auditLog.accountId))
        .where(
          and(
            accountId === undefined ? undefined : eq(auditLog.accountId, accountId),
            event === undefined ? undefined : eq(auditLog.event, event),
            beforeId === undefined ? undefined : lt(auditLog.id, beforeId),
          ),
        )
        .orderBy(desc(auditLog.id))
        .limit(Math.min(limit, PAGE_MAX))
        .all();
    },
    /** Deletes some of the entries that are older than that; returns how many, 0 when nothing is left. */
    async deleteOldAudit(keptMs: number): Promise<number> {
      return (await deleteOld.run([clock.now() - keptMs, DELETE_BATCH])).changes;
    },
  };
}
