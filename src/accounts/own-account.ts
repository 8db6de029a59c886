// What owners do with their account: authentication, sessions, audit log, deletion.

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

/** Someone with a good access token. */
export interface SignedIn {
  readonly account: Account;
  readonly sessionId: string;
}

/** The verbs. */
export interface OwnAccount {
  /** Is there no account yet? Then only the link of the first sign-up makes one. */
  isEmpty(): Promise<boolean>;
  /** Who a request's access token speaks for, or `ApiError` 401. A deleted account's token is invalid at once. */
  authenticate(request: Request): Promise<SignedIn>;
  profile(account: Account): Promise<ReturnType<typeof profileView>>;
  /** Ends one session: that of the refresh token where one is given. */
  logout(who: SignedIn, refreshHash: string | undefined, client: Client): Promise<void>;
  sessions(who: SignedIn): Promise<ReturnType<typeof sessionView>[]>;
  /** Throws `ApiError` 404 `session_not_found`. */
  endSession(who: SignedIn, id: string, client: Client): Promise<void>;
  /** Ends every session, or every other one; their access tokens are refused at once. Gives how many. */
  endAllSessions(who: SignedIn, options: { keepCurrent: boolean; client: Client }): Promise<number>;
  /** What happened to the account, newest first. */
  audit(accountId: string, options: { beforeId?: number; limit?: number }): Promise<ReturnType<typeof auditView>[]>;
  /** Removes an account and all of its own; its keys are refused from now on. */
  deleteAccount(id: string): Promise<void>;
}

export interface OwnAccountDeps {
  readonly accounts: Pick<AccountStore, "countAccounts" | "findAccount" | "deleteAccount">;
  readonly sessions: SessionStore;
  readonly identities: Pick<IdentityStore, "listIdentities">;
  readonly codes: Pick<CodeStore, "dropTickets">;
  readonly audit: Pick<AuditStore, "addAudit" | "listAudit">;
  readonly tokens: AccessTokens;
  /** An account is gone with its keys. */
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
      // A session that is gone was ended for safety's sake; one that was signed out is still there.
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
      // The linking of a provider that one of them began must not be finished without it.
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
