// What can be done with accounts and sign-ins, for the API's routes and the dashboard alike. Builds the parts of this room
// once over the store.
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { Config } from "../config/schema.ts";
import { accessTokens } from "../http/jwt.ts";
import { type Account, accountStore } from "../store/access/accounts.ts";
import { auditStore } from "../store/access/audit.ts";
import { codeStore } from "../store/access/codes.ts";
import { identityStore } from "../store/access/identities.ts";
import { keyStore } from "../store/access/keys.ts";
import { sessionStore } from "../store/access/sessions.ts";
import type { Store } from "../store/engine/open.ts";
import { secretStore } from "../store/secrets.ts";
import type { Logger } from "../telemetry/log.ts";
import { countAttempts } from "./attempts.ts";
import type { Client } from "./client.ts";
import { openKeyRing } from "./key-ring.ts";
import { createMailer, type Mailer, type MailerOptions } from "./mail/mailer.ts";
import { OUTBOX_DIR, outboxTransport, smtpTransport } from "./mail/transport.ts";
import { type Verification, verification } from "./mail/verification.ts";
import { type OAuth, oauthFlow } from "./oauth/flow.ts";
import { type ChangePassword, changePassword } from "./passwords/change.ts";
import { type PasswordHasher, passwordHasher } from "./passwords/hash-queue.ts";
import { type PasswordReset, passwordReset } from "./passwords/reset.ts";
import { profileView } from "./profile.ts";
import { type CookieSessions, cookieSessions } from "./sessions/cookie-sessions.ts";
import { auditView, sessionView } from "./sessions/session-list.ts";
import { type SignIn, signIn } from "./sessions/sign-in.ts";
import { type TokenPairs, tokenPairs } from "./sessions/token-pairs.ts";
import { type SignUp, signUp } from "./sign-up.ts";

/** What this room is built on. */
export interface AccountsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  config(): Config;
  /** Keys or accounts have changed: caches of them are stale. */
  accountsChanged(): void;
  /** Where the dashboard is reached, as links in mails name it: never from a request's Host. */
  dashboardUrl(): string;
  readonly hasher?: PasswordHasher;
  /** How long mails are tried. */
  readonly mail?: Pick<MailerOptions, "tries" | "backoff">;
}

/** Somebody with a good access token. */
export interface SignedIn {
  readonly account: Account;
  readonly sessionId: string;
}

/** The room's verbs. */
export interface Accounts {
  readonly signIn: SignIn;
  readonly signUp: SignUp;
  readonly pairs: TokenPairs;
  /** The dashboard's own sign-ins. */
  readonly cookies: CookieSessions;
  readonly hasher: PasswordHasher;
  readonly verification: Verification;
  readonly passwordReset: PasswordReset;
  readonly changePassword: ChangePassword;
  readonly oauth: OAuth;
  readonly mailer: Mailer;
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
  /** Takes what is configured now. */
  reconfigure(): Promise<void>;
  stop(): Promise<void>;
}

/** Mails to one address that its owner may not have asked for: more would only be a nuisance. */
const UNASKED_MAILS = { failures: 3, windowMs: 900_000 };
/** Of each kind that anybody can have sent to an address; apart, so that codes asked for in vain leave the link that ends it. */
const DAILY_MAILS = { failures: 10, windowMs: 86_400_000 };
/** The length of the hash that it keys. */
const SECRET_CHARS_MIN = 32;
/** Trips to providers begun by one address: an office behind one address has room. */
const TRIPS = { failures: 120, windowMs: 60_000 };

/** Builds the room. */
export async function createAccounts(deps: AccountsDeps): Promise<Accounts> {
  const { store, clock, log, config } = deps;
  const accounts = accountStore(store);
  const sessions = sessionStore(store);
  const identities = identityStore(store);
  const codes = codeStore(store);
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
  const loginLimit = () => config().auth.loginLimit;
  const daily = countAttempts(clock, () => DAILY_MAILS);
  const logins = countAttempts(clock, loginLimit);
  const mailer = createMailer({
    transport: () => {
      const { smtpUrl } = config().email;
      return smtpUrl === "" ? outboxTransport(join(store.dataDir, OUTBOX_DIR)) : smtpTransport(smtpUrl);
    },
    from: () => config().email.from,
    log,
    ...deps.mail,
  });
  const { accountsChanged } = deps;
  const warnOfSecret = () => {
    const { length } = config().auth.jwtSecret;
    if (length > 0 && length < SECRET_CHARS_MIN) {
      log.warn(`auth.jwt_secret is short and could be guessed: use ${SECRET_CHARS_MIN} random characters or more`);
    }
  };
  warnOfSecret();
  const failed = (message: string, error: unknown) => log.error(message, { error });

  const pairs = tokenPairs({ clock, tokens, sessions, audit, secret, settings: () => config().auth });

  const oauth = oauthFlow({
    clock,
    accounts,
    identities,
    codes,
    audit,
    sessions,
    pairs,
    begun: countAttempts(clock, () => TRIPS),
    secret,
    providers: () => config().auth.oauth,
    redirects: () => config().auth.oauthRedirects,
    failed: (message, fields) => log.warn(message, fields),
  });

  return {
    hasher,
    mailer,
    pairs,
    cookies: cookieSessions({ clock, sessions, accounts, ttlMs: () => config().auth.refreshTokenTtlMs }),
    signIn: signIn({ accounts, audit, attempts: logins, hasher, failed }),
    changePassword: changePassword({ accounts, codes, sessions, audit, mailer, hasher, attempts: logins }),
    verification: verification({ clock, codes, audit, mailer, daily, secret, accountsChanged }),
    passwordReset: passwordReset({
      clock,
      accounts,
      codes,
      identities,
      keys: keyStore(store),
      sessions,
      audit,
      hasher,
      mailer,
      asked: countAttempts(clock, loginLimit),
      mailed: countAttempts(clock, () => UNASKED_MAILS),
      daily,
      dashboardUrl: deps.dashboardUrl,
      accountsChanged,
      failed,
    }),

    oauth,
    signUp: signUp({
      clock,
      accounts,
      codes,
      audit,
      secrets,
      oauth,
      hasher,
      mailer,
      attempts: countAttempts(clock, loginLimit),
      mailed: countAttempts(clock, () => UNASKED_MAILS),
      daily,
      config,
    }),

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
      if (!(await accounts.deleteAccount(id))) return;
      accountsChanged();
      log.info("an account was deleted", { account_id: id });
    },

    async reconfigure() {
      mailer.reconfigured();
      warnOfSecret();
      await ring.reload();
    },

    stop: () => mailer.stop(),
  };
}
