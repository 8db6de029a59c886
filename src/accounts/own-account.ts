// What owners can do with their account: authenticate, list sessions, read the audit log, delete it.

import { ApiError } from "../base/errors.ts";
import type { AccessTokens } from "../http/jwt.ts";
import type { Account, AccountStore } from "../store/access/accounts.ts";
import type { AuditStore } from "../store/access/audit.ts";
import type { CodeStore } from "../store/access/codes.ts";
import type { IdentityStore } from "../store/access/identities.ts";
import type { SessionStore } from "../store/access/sessions.ts";
import type { Client } from "./client.ts";
import { profileView } from "./profile.ts";
import { auditView, sessionView } from "./sessions/session-list.ts";

/** A person with a valid access token. */
export interface SignedIn {
  readonly account: Account;
  readonly sessionId: string;
}

/** The verbs. */
export interface OwnAccount {
  /** Whether there is no account yet: then only the setup link can create one. */
  isEmpty(): Promise<boolean>;
  /** The account of a request's access token, or `ApiError` 401. A deleted account's token is invalid immediately. */
  authenticate(request: Request): Promise<SignedIn>;
  profile(account: Account): Promise<ReturnType<typeof profileView>>;
  /** Ends one session: that of the refresh token if one is given. */
  logout(who: SignedIn, refreshHash: string | undefined, client: Client): Promise<void>;
  sessions(who: SignedIn): Promise<ReturnType<typeof sessionView>[]>;
  /** Throws `ApiError` 404 `session_not_found`. */
  endSession(who: SignedIn, id: string, client: Client): Promise<void>;
  /** Ends every session, or every other one; their access tokens are refused immediately. Returns how many. */
  endAllSessions(who: SignedIn, options: { keepCurrent: boolean; client: Client }): Promise<number>;
  /** The account's security events, newest first. */
  audit(accountId: string, options: { beforeId?: number; limit?: number }): Promise<ReturnType<typeof auditView>[]>;
  /** Deletes an account and all its data; its keys are refused from now on. */
  deleteAccount(id: string): Promise<void>;
}

export interface OwnAccountDeps {
  readonly accounts: Pick<AccountStore, "countAccounts" | "findAccount" | "deleteAccount">;
  readonly sessions: SessionStore;
  readonly identities: Pick<IdentityStore, "listIdentities">;
  readonly codes: Pick<CodeStore, "dropTickets">;
  readonly audit: Pick<AuditStore, "addAudit" | "listAudit">;
  readonly tokens: AccessTokens;
  /** Called when an account was deleted with its keys. */
  deleted(id: string): void;
}

/** Builds the verbs. */
export function ownAccountVerbs(deps: OwnAccountDeps): OwnAccount {
  const { accounts, sessions, identities, codes, audit, tokens, deleted } = deps;
  return {
    isEmpty: async () => (await accounts.countAccounts()) === 0,

    async authenticate(request) {
      const { accountId, sessionId } = await tokens.authenticate(request);
      const account = await accounts.findAccount(accountId);
      // A missing session was revoked; one that was signed out still exists.
      if (account === undefined || !(await sessions.hasSession(sessionId, accountId)))
        throw new ApiError("invalid_token", "The access token is not valid.");
      return { account, sessionId };
    },

    profile: async (account) => profileView(account, await identities.listIdentities(account.id)),

    async logout({ account, sessionId }, refreshHash, client) {
      const ended =
        refreshHash === undefined
          ? await sessions.revokeSession(sessionId, account.id)
          : await sessions.revokeByRefresh(refreshHash, account.id);
      if (ended) await audit.addAudit({ accountId: account.id, event: "logout", ...client });
    },

    async sessions({ account, sessionId }) {
      return (await sessions.listSessions(account.id)).map((session) => sessionView(session, sessionId));
    },

    async endSession({ account }, id, client) {
      if (!(await sessions.revokeSession(id, account.id))) {
        throw new ApiError("session_not_found", "There is no such session.");
      }
      await audit.addAudit({ accountId: account.id, event: "session_ended", ...client, detail: { session_id: id } });
    },

    async endAllSessions({ account, sessionId }, { keepCurrent, client }) {
      const ended = await sessions.revokeAllSessions(account.id, keepCurrent ? sessionId : "");
      // A provider link that one of them started must not be finished without it.
      await codes.dropTickets(account.id, ["oauth_state", "oauth_code"]);
      await audit.addAudit({ accountId: account.id, event: "sessions_ended", ...client, detail: { ended } });
      return ended;
    },

    audit: async (accountId, options) => (await audit.listAudit(accountId, options)).map(auditView),

    async deleteAccount(id) {
      if (await accounts.deleteAccount(id)) deleted(id);
    },
  };
}
