// One-time secrets: e-mail verification codes, tickets and invitations. All are stored as hashes and checked in one
// transaction, so that parallel guesses share one count and only one caller can take a ticket.

import { and, desc, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { requireStorable } from "../values.ts";
import { invites, tickets, verificationCodes } from "./schema.ts";

/** What a ticket is for. */
export type TicketKind = "oauth_state" | "oauth_code" | "pending_identity" | "password_reset";

/** A ticket that was taken. */
export interface Ticket {
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

/** An invitation in a listing. */
export type Invite = Omit<typeof invites.$inferSelect, "hash">;

/** Verbs over codes, tickets and invitations. */
export type CodeStore = ReturnType<typeof codeStore>;

const DELETE_BATCH = 500;
const INVITES_LISTED_MAX = 500;

/** Builds the verbs. */
export function codeStore(store: Store) {
  return { ...verificationVerbs(store), ...ticketVerbs(store), ...inviteVerbs(store), ...expiringCodes(store) };
}

function verificationVerbs(store: Store) {
  const { db, clock } = store;
  const codeOf = lazily(() =>
    db
      .select()
      .from(verificationCodes)
      .where(eq(verificationCodes.accountId, sql.placeholder("id")))
      .prepare(),
  );
  return {
    /**
     * Replaces an account's verification code. If the last one was sent less than `gapMs` ago, it stays, and the time
     * when it may be replaced is returned.
     */
    async putVerificationCode(input: {
      readonly accountId: string;
      readonly codeHash: string;
      readonly expiresAtMs: number;
      readonly gapMs: number;
    }): Promise<{ readonly stored: true } | { readonly stored: false; readonly againAtMs: number }> {
      return store.transaction(function* (): Work<{ stored: true } | { stored: false; againAtMs: number }> {
        const nowMs = clock.now();
        const before = yield* step(() => codeOf().get({ id: input.accountId }));
        if (before !== undefined && nowMs < before.sentAtMs + input.gapMs) {
          return { stored: false, againAtMs: before.sentAtMs + input.gapMs };
        }
        const row = { codeHash: input.codeHash, tries: 0, sentAtMs: nowMs, expiresAtMs: input.expiresAtMs };
        yield* step(() =>
          db
            .insert(verificationCodes)
            .values({ accountId: input.accountId, ...row })
            .onConflictDoUpdate({ target: verificationCodes.accountId, set: row })
            .run(),
        );
        return { stored: true };
      });
    },

    /**
     * Checks a code; the right one marks the account's address as verified and is used up. At most `triesMax` guesses are
     * checked.
     */
    async tryVerificationCode(input: {
      readonly accountId: string;
      readonly codeHash: string;
      readonly triesMax: number;
    }): Promise<"verified" | "wrong" | "too_many_tries"> {
      return store.transaction(function* (): Work<"verified" | "wrong" | "too_many_tries"> {
        const code = yield* step(() => codeOf().get({ id: input.accountId }));
        if (code === undefined || code.expiresAtMs <= clock.now()) return "wrong";
        if (code.tries >= input.triesMax) return "too_many_tries";
        const owner = eq(verificationCodes.accountId, input.accountId);
        if (code.codeHash !== input.codeHash) {
          const tries = code.tries + 1;
          yield* step(() => db.update(verificationCodes).set({ tries }).where(owner).run());
          return "wrong";
        }
        yield* step(() => db.delete(verificationCodes).where(owner).run());
        const account = eq(accounts.id, input.accountId);
        yield* step(() => db.update(accounts).set({ emailVerified: true }).where(account).run());
        return "verified";
      });
    },
  };
}

function ticketVerbs(store: Store) {
  const { db, clock } = store;
  return {
    /** Stores a ticket. `only`: invalidates the account's earlier tickets of this kind. */
    async issueTicket(input: {
      readonly kind: TicketKind;
      readonly hash: string;
      readonly accountId?: string | null;
      readonly payload?: Readonly<Record<string, unknown>>;
      readonly expiresAtMs: number;
      readonly only?: boolean;
    }): Promise<void> {
      const { kind, hash, accountId = null, payload = {}, expiresAtMs } = input;
      await store.transaction(function* () {
        if (input.only === true && accountId !== null) {
          const before = and(eq(tickets.accountId, accountId), eq(tickets.kind, kind));
          yield* step(() => db.delete(tickets).where(before).run());
        }
        const row = { kind, hash, accountId, payload, createdAtMs: clock.now(), expiresAtMs };
        yield* step(() => db.insert(tickets).values(row).run());
      });
    },

    /** Takes a ticket. Only one of several concurrent callers gets it. Undefined if it is unknown, used or expired. */
    async takeTicket(kind: TicketKind, hash: string): Promise<Ticket | undefined> {
      const row = await db
        .delete(tickets)
        .where(and(eq(tickets.hash, hash), eq(tickets.kind, kind)))
        .returning()
        .get();
      if (row === undefined || row.expiresAtMs <= clock.now()) return undefined;
      return { accountId: row.accountId, payload: row.payload, createdAtMs: row.createdAtMs };
    },

    /** Invalidates an account's tickets, all or some kinds. */
    async dropTickets(accountId: string, kinds?: readonly TicketKind[]): Promise<void> {
      const ofKinds = kinds === undefined ? undefined : inArray(tickets.kind, [...kinds]);
      await db
        .delete(tickets)
        .where(and(eq(tickets.accountId, accountId), ofKinds))
        .run();
    },

    /** Reads a ticket without taking it; undefined if it is unknown or expired. */
    async peekTicket(kind: TicketKind, hash: string): Promise<Ticket | undefined> {
      return db
        .select({ accountId: tickets.accountId, payload: tickets.payload, createdAtMs: tickets.createdAtMs })
        .from(tickets)
        .where(and(eq(tickets.hash, hash), eq(tickets.kind, kind), gt(tickets.expiresAtMs, clock.now())))
        .get();
    },
  };
}

function inviteVerbs({ db, clock }: Store) {
  return {
    /** Creates an invitation; `createAccount({inviteHash})` uses it up. */
    async createInvite(input: {
      readonly hash: string;
      readonly createdBy: string | null;
      readonly note?: string;
      readonly expiresAtMs?: number | null;
    }): Promise<{ id: string }> {
      requireStorable({ note: input.note });
      const id = uuid();
      await db
        .insert(invites)
        .values({
          id,
          hash: input.hash,
          createdBy: input.createdBy,
          note: input.note ?? "",
          createdAtMs: clock.now(),
          expiresAtMs: input.expiresAtMs ?? null,
        })
        .run();
      return { id };
    },

    /** Whether the invitation is valid now. */
    async isInviteOpen(hash: string): Promise<boolean> {
      const open = isOpenInvite(hash, clock.now());
      return (await db.select({ id: invites.id }).from(invites).where(open).get()) !== undefined;
    },

    /** The latest invitations, newest first. */
    async listInvites(): Promise<Invite[]> {
      const rows = await db
        .select()
        .from(invites)
        .orderBy(desc(byBytes(invites.id)))
        .limit(INVITES_LISTED_MAX)
        .all();
      return rows.map(({ hash: _, ...invite }) => invite);
    },

    /** Revokes an unused invitation. */
    async deleteInvite(id: string): Promise<boolean> {
      const unused = and(eq(invites.id, id), isNull(invites.usedAtMs));
      return (await db.delete(invites).where(unused).returning({ id: invites.id }).all()).length > 0;
    },
  };
}

function expiringCodes({ clock, statement }: Store) {
  const deleteTickets = statement(
    "DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets WHERE expires_at < ? LIMIT ?)",
  );
  const deleteCodes = statement(
    "DELETE FROM verification_codes WHERE account_id IN (SELECT account_id FROM verification_codes WHERE expires_at < ? LIMIT ?)",
  );
  return {
    /** Deletes a batch of expired rows; returns how many, 0 when none is left. */
    async deleteExpiredCodes(): Promise<number> {
      const values = [clock.now(), DELETE_BATCH];
      return (await deleteTickets.run(values)).changes + (await deleteCodes.run(values)).changes;
    },
  };
}

/** The condition that an invitation exists, unused and not expired. */
export function isOpenInvite(hash: string, nowMs: number): SQL | undefined {
  const unexpired = or(isNull(invites.expiresAtMs), gt(invites.expiresAtMs, nowMs));
  return and(eq(invites.hash, hash), isNull(invites.usedAtMs), unexpired);
}
