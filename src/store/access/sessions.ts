// Sessions: refresh-token families and dashboard cookies. Rotation is a state machine in one transaction, so that of two
// concurrent refreshes exactly one wins. Only the hashes of tokens and cookies are known here.

import { and, desc, eq, gt, inArray, isNull, ne, sql } from "drizzle-orm";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { storable } from "../../base/storable.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type MaybePromise, type Store, step, type Work } from "../engine/store.ts";
import { refreshTokens, sessions } from "./schema.ts";

/** A session as stored. */
export type Session = Omit<typeof sessions.$inferSelect, "cookieHash">;

/** The fields of a new session: a first refresh token or a cookie. */
export interface NewSession {
  readonly accountId: string;
  readonly refreshHash?: string;
  readonly cookieHash?: string;
  readonly expiresAtMs: number;
  readonly userAgent: string;
  readonly address: string;
}

/** A presented refresh token, and its possible successor. */
export interface RefreshInput {
  readonly hash: string;
  readonly nextHash: string;
  readonly nextExpiresAtMs: number;
  /** How long a used token counts as `repeated` instead of `reused`. */
  readonly graceMs: number;
}

/** The result of presenting a refresh token. */
export type Rotation =
  /** The token was valid: its successor is stored. */
  | { readonly kind: "rotated"; readonly sessionId: string; readonly accountId: string }
  /** It was used a moment ago and its successor is unused; `nextHash` is the hash of the successor. */
  | { readonly kind: "repeated"; readonly sessionId: string; readonly accountId: string; readonly nextHash: string }
  /** It had been used before, so its whole family is now revoked. */
  | { readonly kind: "reused"; readonly sessionId: string; readonly accountId: string }
  | { readonly kind: "expired" | "revoked" | "unknown" };

/** Verbs over sessions. */
export type SessionStore = ReturnType<typeof sessionStore>;

/** Far more devices than one person has. Above this limit the least recently used session is deleted. */
const SESSIONS_PER_ACCOUNT_MAX = 1000;
/** Stored length of a user agent, for listings. */
const USER_AGENT_CHARS = 300;
/** An expired token is reported as expired for this long, then as unknown. */
const EXPIRED_KEPT_MS = 7 * 86_400_000;
const DELETE_BATCH = 500;

const columns = lazily(() => ({
  id: sessions.id,
  accountId: sessions.accountId,
  userAgent: sessions.userAgent,
  address: sessions.address,
  createdAtMs: sessions.createdAtMs,
  lastUsedAtMs: sessions.lastUsedAtMs,
  expiresAtMs: sessions.expiresAtMs,
  revokedAtMs: sessions.revokedAtMs,
}));

/** Builds the verbs. */
export function sessionStore(store: Store) {
  const parts = sessionParts(store);
  return { ...startingSessions(store, parts), ...usingSessions(store, parts), ...endingSessions(store, parts) };
}

/** Statements and steps that several verbs share. */
type Parts = ReturnType<typeof sessionParts>;

function sessionParts({ db, clock }: Store) {
  const token = lazily(() =>
    db
      .select({
        sessionId: refreshTokens.sessionId,
        accountId: sessions.accountId,
        expiresAtMs: refreshTokens.expiresAtMs,
        usedAtMs: refreshTokens.usedAtMs,
        nextHash: refreshTokens.nextHash,
        revokedAtMs: sessions.revokedAtMs,
      })
      .from(refreshTokens)
      .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
      .where(eq(refreshTokens.hash, sql.placeholder("hash")))
      .prepare(),
  );
  const owned = lazily(() =>
    db
      .select({ id: sessions.id })
      .from(sessions)
      .where(and(eq(sessions.id, sql.placeholder("id")), eq(sessions.accountId, sql.placeholder("accountId"))))
      .prepare(),
  );
  return {
    token,
    owned,
    live: () => and(isNull(sessions.revokedAtMs), gt(sessions.expiresAtMs, clock.now())),
    addToken: (hash: string, sessionId: string, expiresAtMs: number): MaybePromise<unknown> =>
      db.insert(refreshTokens).values({ hash, sessionId, createdAtMs: clock.now(), expiresAtMs }).run(),
    /** False when the session is already revoked or deleted. */
    *revoke(id: string): Work<boolean> {
      const revoked = yield* step(() =>
        db
          .update(sessions)
          .set({ revokedAtMs: clock.now() })
          .where(and(eq(sessions.id, id), isNull(sessions.revokedAtMs)))
          .returning({ id: sessions.id })
          .all(),
      );
      return revoked.length > 0;
    },
  };
}

function startingSessions(store: Store, { addToken }: Parts) {
  const { db, clock } = store;
  // Runs with each sign-in, so one batch is always enough.
  const surplus = lazily(() =>
    db
      .select({ id: sessions.id })
      .from(sessions)
      .where(eq(sessions.accountId, sql.placeholder("accountId")))
      .orderBy(desc(sessions.lastUsedAtMs), desc(byBytes(sessions.id)))
      .limit(DELETE_BATCH)
      .offset(SESSIONS_PER_ACCOUNT_MAX)
      .prepare(),
  );

  return {
    /** Starts a session. */
    async createSession(input: NewSession): Promise<Session> {
      const nowMs = clock.now();
      const session: Session = {
        id: uuid(),
        accountId: input.accountId,
        userAgent: storable(input.userAgent.slice(0, USER_AGENT_CHARS)),
        address: input.address,
        createdAtMs: nowMs,
        lastUsedAtMs: nowMs,
        expiresAtMs: input.expiresAtMs,
        revokedAtMs: null,
      };
      const { refreshHash } = input;
      await store.transaction(function* () {
        yield* step(() =>
          db
            .insert(sessions)
            .values({ ...session, cookieHash: input.cookieHash ?? null })
            .run(),
        );
        if (refreshHash !== undefined) yield* step(() => addToken(refreshHash, session.id, input.expiresAtMs));
        const ids = (yield* step(() => surplus().all({ accountId: input.accountId }))).map(({ id }) => id);
        if (ids.length > 0) yield* step(() => db.delete(sessions).where(inArray(sessions.id, ids)).run());
      });
      return session;
    },
  };
}

function usingSessions(store: Store, { token, owned, live, addToken, revoke }: Parts) {
  const { db, clock } = store;
  return {
    /**
     * Exchanges a refresh token for its successor. Within `graceMs` of its use a token is `repeated` instead of `reused`, as
     * long as its successor is unused.
     */
    async rotateRefresh(input: RefreshInput): Promise<Rotation> {
      return store.transaction(function* (): Work<Rotation> {
        const nowMs = clock.now();
        const found = yield* step(() => token().get({ hash: input.hash }));
        if (found === undefined) return { kind: "unknown" };
        const { sessionId, accountId, usedAtMs, nextHash } = found;
        if (usedAtMs !== null) {
          const next = nextHash === null ? undefined : yield* step(() => token().get({ hash: nextHash }));
          const repeatable = found.revokedAtMs === null && next !== undefined && next.usedAtMs === null;
          if (nextHash !== null && repeatable && nowMs < usedAtMs + input.graceMs) {
            return { kind: "repeated", sessionId, accountId, nextHash };
          }
          yield* revoke(sessionId);
          return { kind: "reused", sessionId, accountId };
        }
        if (found.revokedAtMs !== null) return { kind: "revoked" };
        if (found.expiresAtMs <= nowMs) return { kind: "expired" };
        yield* step(() => addToken(input.nextHash, sessionId, input.nextExpiresAtMs));
        const spent = { usedAtMs: nowMs, nextHash: input.nextHash };
        yield* step(() => db.update(refreshTokens).set(spent).where(eq(refreshTokens.hash, input.hash)).run());
        const used = { lastUsedAtMs: nowMs, expiresAtMs: input.nextExpiresAtMs };
        yield* step(() => db.update(sessions).set(used).where(eq(sessions.id, sessionId)).run());
        return { kind: "rotated", sessionId, accountId };
      });
    },

    /** The live dashboard session with this cookie; records its use. */
    async useCookieSession(cookieHash: string): Promise<Session | undefined> {
      return db
        .update(sessions)
        .set({ lastUsedAtMs: clock.now() })
        .where(and(eq(sessions.cookieHash, cookieHash), live()))
        .returning(columns())
        .get();
    },

    /** An account's live sessions, most recently used first. */
    async listSessions(accountId: string): Promise<Session[]> {
      return db
        .select(columns())
        .from(sessions)
        .where(and(eq(sessions.accountId, accountId), live()))
        .orderBy(desc(sessions.lastUsedAtMs), desc(byBytes(sessions.id)))
        .all();
    },

    /** Whether the account has such a session, live or ended. */
    async hasSession(id: string, accountId: string): Promise<boolean> {
      return (await owned().get({ id, accountId })) !== undefined;
    },
  };
}

function endingSessions(store: Store, { token, owned, revoke }: Parts) {
  const { db, clock, statement } = store;
  const deleteSessions = statement(
    "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < ? LIMIT ?)",
  );
  const deleteTokens = statement(
    "DELETE FROM refresh_tokens WHERE hash IN (SELECT hash FROM refresh_tokens WHERE expires_at < ? LIMIT ?)",
  );
  return {
    /** Ends the session of a refresh token of this account; false if there is no such live session. */
    async revokeByRefresh(hash: string, accountId: string): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        const found = yield* step(() => token().get({ hash }));
        return found !== undefined && found.accountId === accountId && (yield* revoke(found.sessionId));
      });
    },

    /** Ends a session of this account; false if there is no such live session. */
    async revokeSession(id: string, accountId: string): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        return (yield* step(() => owned().get({ id, accountId }))) !== undefined && (yield* revoke(id));
      });
    },

    /**
     * Ends all sessions of an account except `exceptId`, and returns how many were live. They are deleted, so that
     * their access tokens can be distinguished from those of sessions that signed out.
     */
    async revokeAllSessions(accountId: string, exceptId = ""): Promise<number> {
      const gone = await db
        .delete(sessions)
        .where(and(eq(sessions.accountId, accountId), ne(sessions.id, exceptId)))
        .returning({ revokedAtMs: sessions.revokedAtMs })
        .all();
      return gone.filter(({ revokedAtMs }) => revokedAtMs === null).length;
    },

    /** Deletes a batch of what expired at least a week ago; returns how many rows, 0 when none is left. */
    async deleteExpiredSessions(): Promise<number> {
      const beforeMs = clock.now() - EXPIRED_KEPT_MS;
      const values = [beforeMs, DELETE_BATCH];
      return (await deleteSessions.run(values)).changes + (await deleteTokens.run(values)).changes;
    },
  };
}
