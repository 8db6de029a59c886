// Alerts to be sent, one row for each target. A row is claimed by moving the time of its next attempt, so that of all nodes one
// sends it, and another one if that node dies. It is kept until the window of its event ends, so that an event is raised once.

import { and, asc, count, eq, gt, isNotNull, lte, min, sql } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { alerts } from "./schema.ts";

/** An alert to be stored. */
export interface NewAlert {
  /** What happened; the same text on every node. */
  readonly event: string;
  /** Whom it concerns; null: the operator. */
  readonly accountId: string | null;
  readonly body: string;
  readonly targets: readonly AlertTarget[];
  /** When the same event may be raised again. */
  readonly expiresAtMs: number;
}

/** Where an alert is sent: the operator's server, the owner's address, or an address of the operator's. */
export type AlertTarget = "webhook" | "owner" | `mail:${string}`;

/** An alert as its sender gets it. */
export interface ClaimedAlert {
  readonly event: string;
  readonly target: AlertTarget;
  readonly body: string;
  /** How often sending was tried, this time included. It also identifies the claim. */
  readonly tries: number;
  readonly createdAtMs: number;
  /** The owner, for the target `owner`. */
  readonly owner: { readonly username: string; readonly email: string } | undefined;
}

/** Verbs over alerts. */
export type AlertStore = ReturnType<typeof alertStore>;

/** Mails to an owner in a day: keys cannot be used to flood an address, least of all one that may be another's. */
export const OWNER_MAILS_MAX = 50;
export const UNVERIFIED_MAILS_MAX = 3;
const DAY_MS = 86_400_000;
const DELETE_BATCH = 500;

/** Builds the verbs. */
export function alertStore(store: Store) {
  return { ...raisingAlerts(store), ...sendingAlerts(store) };
}

function raisingAlerts(store: Store) {
  const { db, clock, statement } = store;
  const put = statement(
    `INSERT INTO alerts (event, target, account_id, body, tries, created_at, due_at, expires_at)
     VALUES ($event, $target, $accountId, $body, 0, $now, $now, $expiresAt)
     ON CONFLICT (event, target) DO UPDATE SET account_id = excluded.account_id, body = excluded.body, tries = 0,
       created_at = excluded.created_at, due_at = excluded.due_at, expires_at = excluded.expires_at
     WHERE alerts.expires_at <= excluded.created_at`,
  );
  const deleteOld = statement(
    `DELETE FROM alerts WHERE (event, target) IN (
       SELECT event, target FROM alerts WHERE expires_at <= ? AND due_at IS NULL LIMIT ?)`,
  );
  return {
    /** Stores an alert unless its event was raised in this window; returns to how many targets it goes. */
    async putAlert({ event, accountId, body, targets, expiresAtMs }: NewAlert): Promise<number> {
      return store.transaction(function* (): Work<number> {
        const now = clock.now();
        let mailsMax = 0;
        if (accountId !== null) {
          const own = db
            .select({ isVerified: accounts.emailVerified })
            .from(accounts)
            .where(eq(accounts.id, accountId));
          const account = yield* step(() => own.get());
          if (account === undefined) return 0;
          mailsMax = account.isVerified ? OWNER_MAILS_MAX : UNVERIFIED_MAILS_MAX;
        }
        let raised = 0;
        for (const target of targets) {
          if (target === "owner") {
            const recent = and(
              eq(alerts.accountId, accountId ?? ""),
              eq(alerts.target, "owner"),
              gt(alerts.createdAtMs, now - DAY_MS),
            );
            const mails = db.select({ n: count() }).from(alerts).where(recent);
            if (((yield* step(() => mails.get()))?.n ?? 0) >= mailsMax) continue;
          }
          const row = { event, target, accountId, body, now, expiresAt: expiresAtMs };
          raised += (yield* step(() => put.run(row))).changes;
        }
        return raised;
      });
    },

    /** Deletes a batch of the alerts whose window has ended, unless they wait to be sent; returns how many. */
    async deleteExpiredAlerts(): Promise<number> {
      return (await deleteOld.run([clock.now(), DELETE_BATCH])).changes;
    },
  };
}

function sendingAlerts(store: Store) {
  const { db, clock, takingRows } = store;
  const isClaim = ({ event, target, tries }: Pick<ClaimedAlert, "event" | "target" | "tries">) =>
    and(eq(alerts.event, event), eq(alerts.target, target), eq(alerts.tries, tries), isNotNull(alerts.dueAtMs));
  return {
    /** Claims an alert that is due, the one that waits longest, for so long; undefined if there is none. */
    async claimAlert(holdMs: number): Promise<ClaimedAlert | undefined> {
      const nowMs = clock.now();
      const next = db
        .select({ event: alerts.event, target: alerts.target })
        .from(alerts)
        .where(lte(alerts.dueAtMs, nowMs))
        .orderBy(asc(alerts.dueAtMs), asc(byBytes(alerts.event)), asc(byBytes(alerts.target)))
        .limit(1)
        .getSQL();
      const claimed = await db
        .update(alerts)
        .set({ dueAtMs: nowMs + holdMs, tries: sql`${alerts.tries} + 1` })
        .where(sql`(${alerts.event}, ${alerts.target}) = (${next}${sql.raw(takingRows)})`)
        .returning()
        .get();
      if (claimed === undefined) return undefined;
      const { event, body, tries, createdAtMs, accountId } = claimed;
      const owner =
        accountId === null
          ? undefined
          : await db
              .select({ username: accounts.username, email: accounts.email })
              .from(accounts)
              .where(eq(accounts.id, accountId))
              .get();
      return { event, target: claimed.target as AlertTarget, body, tries, createdAtMs, owner };
    },

    /** Ends a claim: the alert is sent again at this time, or never. False if another has claimed it or it was raised anew. */
    async settleAlert(
      claim: Pick<ClaimedAlert, "event" | "target" | "tries">,
      dueAtMs: number | null,
    ): Promise<boolean> {
      const changed = await db
        .update(alerts)
        .set({ dueAtMs })
        .where(isClaim(claim))
        .returning({ tries: alerts.tries })
        .all();
      return changed.length > 0;
    },

    /** When the next alert is due; undefined if none waits. */
    async nextAlertAt(): Promise<number | undefined> {
      const row = await db
        .select({ at: min(alerts.dueAtMs) })
        .from(alerts)
        .get();
      return row?.at ?? undefined;
    },
  };
}
