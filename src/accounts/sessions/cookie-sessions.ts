// The dashboard's sessions: a random value in a cookie, stored only as a hash. An unknown, ended or expired value means not
// signed in.

import type { Clock } from "../../base/clock.ts";
import { randomText, sha256Hex } from "../../base/ids.ts";
import type { Account, AccountStore } from "../../store/access/accounts.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import type { Client } from "../client.ts";

/** What cookie sessions need. */
export interface CookieSessionDeps {
  readonly clock: Clock;
  readonly sessions: Pick<SessionStore, "createSession" | "useCookieSession">;
  readonly accounts: Pick<AccountStore, "findAccount">;
  /** How long a session lasts. */
  ttlMs(): number;
}

/** Starts and finds sessions of browsers. */
export interface CookieSessions {
  /** The cookie's value, and its lifetime. */
  start(accountId: string, client: Client): Promise<{ readonly value: string; readonly seconds: number }>;
  /** The account for this value; undefined if it is invalid. */
  find(value: string): Promise<{ readonly account: Account; readonly sessionId: string } | undefined>;
}

/** 62^43 is more than 2^256. */
const VALUE_CHARS = 43;
const VALUE = /^[0-9A-Za-z]{43}$/;

/** Builds the verbs. */
export function cookieSessions({ clock, sessions, accounts, ttlMs }: CookieSessionDeps): CookieSessions {
  return {
    async start(accountId, client) {
      const value = randomText(VALUE_CHARS);
      const lifeMs = ttlMs();
      const expiresAtMs = clock.now() + lifeMs;
      await sessions.createSession({ accountId, cookieHash: sha256Hex(value), expiresAtMs, ...client });
      return { value, seconds: Math.floor(lifeMs / 1000) };
    },

    async find(value) {
      if (!VALUE.test(value)) return undefined;
      const session = await sessions.useCookieSession(sha256Hex(value));
      if (session === undefined) return undefined;
      const account = await accounts.findAccount(session.accountId);
      return account === undefined ? undefined : { account, sessionId: session.id };
    },
  };
}
