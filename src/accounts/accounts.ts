// The operations on accounts and sessions, for the API's routes and the dashboard. Builds the parts of this room once over
// the store.

import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { accessTokens } from "../http/jwt.ts";
import {
  createThrottle,
  type SignInThrottle,
  type ThrottleLimit,
  type ThrottleSharing,
} from "../shared-state/sign-in-throttle.ts";
import type { Verbs } from "../store/verbs.ts";
import type { AccountLog } from "./account-log.ts";
import { openKeyRing } from "./key-ring.ts";
import { createMailer, type Mailer, type MailerOptions } from "./mail/mailer.ts";
import { OUTBOX_DIR, outboxTransport, smtpTransport } from "./mail/transport.ts";
import { type Verification, verification } from "./mail/verification.ts";
import type { OAuth } from "./oauth/flow.ts";
import { lateOAuthFlow } from "./oauth/late-flow.ts";
import { type OwnAccount, ownAccountVerbs } from "./own-account.ts";
import { type ChangePassword, changePassword } from "./passwords/change.ts";
import { type PasswordHasher, passwordHasher } from "./passwords/hash-queue.ts";
import { type PasswordReset, passwordReset } from "./passwords/reset.ts";
import { type CookieSessions, cookieSessions } from "./sessions/cookie-sessions.ts";
import { type SignIn, signIn } from "./sessions/sign-in.ts";
import { type TokenPairs, tokenPairs } from "./sessions/token-pairs.ts";
import { type SignUp, signUp } from "./sign-up.ts";
import { storeThrottle } from "./stored-throttle.ts";

/** What the operations need. */
export interface AccountsDeps {
  readonly verbs: Pick<
    Verbs,
    "accounts" | "sessions" | "identities" | "codes" | "audit" | "secrets" | "keys" | "settings" | "projectMembers"
  >;
  /** The directory for mails that are not sent. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: AccountLog;
  config(): Config;
  /** Called when keys or accounts have changed and cached copies must be discarded. */
  accountsChanged(): void;
  /** The dashboard's address for links in mails: never from a request's Host. */
  dashboardUrl(): string;
  readonly hasher?: PasswordHasher;
  /** Shares counters of tries with other nodes, where there may be some. */
  readonly shareAttempts?: ThrottleSharing | undefined;
  /** How long sending is retried. */
  readonly mail?: Pick<MailerOptions, "tries" | "backoff">;
}

/** The room's verbs. */
export interface Accounts extends OwnAccount {
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
  /** Applies the current configuration. */
  reconfigure(): Promise<void>;
  stop(): Promise<void>;
}

/** The limit of mails to one address that its owner may not have requested. */
const UNASKED_MAILS = { failures: 3, windowMs: 900_000 };
/**
 * A limit for each kind of mail that anyone can request for an address. They are counted separately, so that unwanted
 * codes do not prevent the mail that helps against them.
 */
const DAILY_MAILS = { failures: 10, windowMs: 86_400_000 };
/** The key has the length of the hash. */
const SECRET_CHARS_MIN = 32;
/** Limit of OAuth sign-ins started from one address; allows for an office behind one address. */
const TRIPS = { failures: 120, windowMs: 60_000 };

/** Builds the room. */
export async function createAccounts(deps: AccountsDeps): Promise<Accounts> {
  const { verbs, clock, log, config, accountsChanged } = deps;
  const { accounts, sessions } = verbs;
  const hasher = deps.hasher ?? passwordHasher();
  const ring = await openKeyRing({
    secrets: verbs.secrets,
    clock,
    configured: () => config().auth.jwtSecret,
    ttlMs: () => config().auth.accessTokenTtlMs,
  });
  const tokens = accessTokens({ ring, clock });
  const secret = await verbs.secrets.secret("account_codes");
  const mailer = createMailer({
    transport: () => {
      const { smtpUrl } = config().email;
      return smtpUrl === "" ? outboxTransport(join(deps.dataDir, OUTBOX_DIR)) : smtpTransport(smtpUrl);
    },
    from: () => config().email.from,
    log,
    ...deps.mail,
  });
  const keptDaily = await storeThrottle({
    clock,
    settings: verbs.settings,
    name: "daily_mails",
    limit: DAILY_MAILS,
    failed: (error) => log.error("the count of mails could not be stored", { error }),
  });
  const count = counting(deps);
  const daily = deps.shareAttempts?.("daily_mails", { local: keptDaily, limit: () => DAILY_MAILS }) ?? keptDaily;
  warnOfSecret(deps);
  const pairs = tokenPairs({ ...verbs, clock, tokens, secret, settings: () => config().auth });
  const oauth = lateOAuthFlow({
    ...verbs,
    clock,
    pairs,
    begun: count("oauth_trips", () => TRIPS),
    secret,
    providers: () => config().auth.oauth,
    makesAccounts: () => config().auth.signup === "oauth",
    redirects: () => config().auth.oauthRedirects,
    members: () => verbs.projectMembers,
    tiers: () => config().tiers,
    accountsChanged,
    failed: (message, fields) => log.warn(message, fields),
  });

  return {
    hasher,
    mailer,
    pairs,
    cookies: cookieSessions({ clock, sessions, accounts, ttlMs: () => config().auth.refreshTokenTtlMs }),
    oauth,
    ...entrances(deps, { ...verbs, hasher, mailer, oauth, secret, daily, count }),
    ...ownAccountVerbs({
      ...verbs,
      tokens,
      deleted(id) {
        accountsChanged();
        log.info("an account was deleted", { account_id: id });
      },
    }),
    async reconfigure() {
      mailer.reconfigured();
      warnOfSecret(deps);
      await ring.reload();
    },
    async stop() {
      await mailer.stop();
      await keptDaily.stop();
    },
  };
}

type Parts = AccountsDeps["verbs"] &
  Pick<Accounts, "hasher" | "mailer" | "oauth"> & {
    /** The key for the hashes of codes. */
    readonly secret: string;
    readonly daily: SignInThrottle;
    readonly count: ReturnType<typeof counting>;
  };

/** Signing in, signing up and recovery, with passwords and verified addresses. */
function entrances({ clock, log, config, accountsChanged, dashboardUrl }: AccountsDeps, parts: Parts) {
  const loginLimit = () => config().auth.loginLimit;
  const { daily, count } = parts;
  const logins = count("sign_ins", loginLimit);
  const failed = (message: string, error: unknown) => log.error(message, { error });
  return {
    signIn: signIn({ ...parts, attempts: logins, failed }),
    changePassword: changePassword({ ...parts, attempts: logins }),
    verification: verification({ ...parts, clock, daily, accountsChanged }),
    passwordReset: passwordReset({
      ...parts,
      clock,
      asked: count("reset_requests", loginLimit),
      mailed: count("reset_mails", () => UNASKED_MAILS),
      daily,
      dashboardUrl,
      accountsChanged,
      failed,
    }),
    signUp: signUp({
      ...parts,
      clock,
      attempts: count("sign_ups", loginLimit),
      mailed: count("sign_up_mails", () => UNASKED_MAILS),
      daily,
      config,
    }),
  };
}

/** Creates counters of tries, which nodes share if they can. `limit` is read at each try, so that a reload applies. */
function counting({ clock, shareAttempts }: Pick<AccountsDeps, "clock" | "shareAttempts">) {
  return (what: string, limit: () => ThrottleLimit): SignInThrottle => {
    const local = createThrottle(clock, limit);
    return shareAttempts?.(what, { local, limit }) ?? local;
  };
}

/** Checked because anyone who guesses the secret can use every account. */
function warnOfSecret({ log, config }: AccountsDeps): void {
  const { length } = config().auth.jwtSecret;
  if (length > 0 && length < SECRET_CHARS_MIN) {
    log.warn(`auth.jwt_secret is short and could be guessed: use ${SECRET_CHARS_MIN} random characters or more`);
  }
}
