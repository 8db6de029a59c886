// What can be done with accounts and sign-ins, for the API's routes and the dashboard alike. Builds the parts of this room
// once over the store.
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { Config } from "../config/schema.ts";
import { accessTokens } from "../http/jwt.ts";
import { type Account, accountStore } from "../store/accounts.ts";
import { auditStore } from "../store/audit.ts";
import { identityStore } from "../store/identities.ts";
import type { Store } from "../store/open.ts";
import { secretStore } from "../store/secrets.ts";
import { sessionStore } from "../store/sessions.ts";
import type { Logger } from "../telemetry/log.ts";
import { countAttempts } from "./attempts.ts";
import type { Client } from "./client.ts";
import { type PasswordHasher, passwordHasher } from "./hash-queue.ts";
import { openKeyRing } from "./key-ring.ts";
import { profileView } from "./profile.ts";
import { type SignIn, signIn } from "./sign-in.ts";
import { type TokenPairs, tokenPairs } from "./token-pairs.ts";

/** What this room is built on. */
export interface AccountsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  config(): Config;
  /** Keys or accounts have changed: caches of them are stale. */
  accountsChanged(): void;
  readonly hasher?: PasswordHasher;
}

/** Somebody with a good access token. */
export interface SignedIn {
  readonly account: Account;
  readonly sessionId: string;
}

/** The room's verbs. */
export interface Accounts {
  readonly signIn: SignIn;
  readonly pairs: TokenPairs;
  readonly hasher: PasswordHasher;
  /** Who a request's access token speaks for, or `ApiError` 401. A deleted account's token is invalid at once. */
  authenticate(request: Request): Promise<SignedIn>;
  profile(account: Account): Promise<ReturnType<typeof profileView>>;
  /** Ends one session: that of the refresh token where one is given. */
  logout(who: SignedIn, refreshHash: string | undefined, client: Client): Promise<void>;
  /** Removes an account and all of its own; its keys are refused from now on. */
  deleteAccount(id: string): Promise<void>;
  /** Takes what is configured now. */
  reconfigured(): Promise<void>;
}

/** Builds the room. */
export async function createAccounts(deps: AccountsDeps): Promise<Accounts> {
  const { store, clock, log, config } = deps;
  const accounts = accountStore(store);
  const sessions = sessionStore(store);
  const identities = identityStore(store);
  const audit = auditStore(store);
  const secrets = secretStore(store);
  const hasher = deps.hasher ?? passwordHasher();
  const ring = await openKeyRing({
    secrets,
    clock,
    configured: () => config().auth.jwtSecret,
    ttlMs: () => config().auth.accessTokenTtlMs,
  });
  const tokens = accessTokens({ ring, clock });
  const secret = await secrets.secret("account_codes");
  const attempts = countAttempts(clock, () => config().auth.loginLimit);

  return {
    hasher,
    pairs: tokenPairs({ clock, tokens, sessions, audit, secret, settings: () => config().auth }),
    signIn: signIn({ accounts, audit, attempts, hasher, failed: (message, error) => log.error(message, { error }) }),

    async authenticate(request) {
      const { accountId, sessionId } = await tokens.authenticate(request);
      const account = await accounts.findAccount(accountId);
      if (account === undefined) throw new ApiError("invalid_token", "The access token is not valid.");
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

    async deleteAccount(id) {
      if (!(await accounts.deleteAccount(id))) return;
      deps.accountsChanged();
      log.info("an account was deleted", { account_id: id });
    },

    reconfigured: () => ring.reload(),
  };
}
