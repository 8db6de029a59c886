// Forgotten passwords: a mailed link that works once, for half an hour. The response is the same for every address; the work
// for a known one happens after the response. Setting the new password ends every session, and for an account with an
// unverified address removes all other ways to sign in.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { randomText, sha256Hex } from "../../base/ids.ts";
import type { SignInThrottle } from "../../shared-state/sign-in-throttle.ts";
import { type AccountStore, foldName } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { CodeStore } from "../../store/access/codes.ts";
import type { IdentityStore } from "../../store/access/identities.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import { addressName } from "../address-name.ts";
import type { Client } from "../client.ts";
import type { Mailer } from "../mail/mailer.ts";
import { passwordChangedMail, resetMail } from "../mail/mails.ts";
import type { PasswordHasher } from "./hash-queue.ts";
import { passwordFault } from "./passwords.ts";

/** What a reset needs. */
export interface PasswordResetDeps {
  readonly clock: Clock;
  readonly accounts: Pick<AccountStore, "findAccount" | "findAccountByEmail" | "updateAccount">;
  readonly codes: Pick<CodeStore, "issueTicket" | "peekTicket" | "takeTicket" | "dropTickets">;
  readonly identities: Pick<IdentityStore, "unlinkAllIdentities">;
  readonly keys: Pick<KeyStore, "revokeAllKeys">;
  readonly sessions: Pick<SessionStore, "revokeAllSessions">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly hasher: PasswordHasher;
  readonly mailer: Pick<Mailer, "send">;
  /** Requests by the client's address. */
  readonly asked: SignInThrottle;
  /** Mails by the account's address. */
  readonly mailed: SignInThrottle;
  /** The same, per day. */
  readonly daily: SignInThrottle;
  dashboardUrl(): string;
  accountsChanged(): void;
  failed(message: string, error: unknown): void;
}

/** Requests a link and uses it. */
export interface PasswordReset {
  /** A link for an administrator to hand over: for accounts that mail does not reach. */
  linkFor(account: { readonly id: string }): Promise<{ readonly url: string; readonly minutes: number }>;
  /** Never reveals whether the account exists. Throws `ApiError` 429 `too_many_attempts` by the client's address. */
  request(email: string, client: Client): Promise<void>;
  /** Throws `ApiError` 400 `invalid_code` (param `token`) or `invalid_request` (param `password`). */
  confirm(input: { token: string; password: string }, client: Client): Promise<void>;
}

const LIFE_MS = 1_800_000;
/** 190 bits, and a link that mail programs do not break. */
const TOKEN_CHARS = 32;

/** Builds the verbs. */
export function passwordReset(deps: PasswordResetDeps): PasswordReset {
  const { accounts, codes } = deps;

  const linkFor = async ({ id: accountId }: { readonly id: string }) => {
    const token = randomText(TOKEN_CHARS);
    const expiresAtMs = deps.clock.now() + LIFE_MS;
    await codes.issueTicket({ kind: "password_reset", hash: sha256Hex(token), accountId, expiresAtMs, only: true });
    // In the fragment, which no browser sends to a server: it stays out of logs and referrers.
    const url = `${deps.dashboardUrl().replace(/\/+$/, "")}/forgot#token=${token}`;
    return { url, minutes: LIFE_MS / 60_000 };
  };

  const mailLink = async (email: string, client: Client): Promise<void> => {
    const account = await accounts.findAccountByEmail(email);
    if (account === undefined || !(await deps.mailed.begin([`reset:${foldName(email)}`])).allowed) return;
    if (!(await deps.daily.begin([`reset:${foldName(email)}`])).allowed) return;
    const { url: link, minutes } = await linkFor(account);
    await deps.audit.addAudit({ accountId: account.id, event: "password_reset_requested", ...client });
    deps.mailer.send(resetMail(account.email, account.username, { link, minutes }));
  };

  return {
    linkFor,

    async request(email, client) {
      const attempt = await deps.asked.begin([`reset:${addressName(client.address)}`]);
      if (!attempt.allowed) {
        throw new ApiError("too_many_attempts", "Too many requests for a new password. Try again later.", {
          retryAfterSeconds: attempt.retryAfterSeconds,
        });
      }
      setImmediate(() => {
        mailLink(email, client).catch((error) => deps.failed("a password link could not be mailed", error));
      });
    },

    async confirm({ token, password }, client) {
      const fault = passwordFault(password);
      if (fault !== undefined) throw new ApiError("invalid_request", fault, { param: "password" });
      const hash = sha256Hex(token);
      // Checked first: a full queue must not use up the link, and a guess must not cost a hash.
      if ((await codes.peekTicket("password_reset", hash)) === undefined) throw invalidLink();
      const passwordHash = await deps.hasher.hash(password);
      const accountId = (await codes.takeTicket("password_reset", hash))?.accountId ?? undefined;
      if (accountId === undefined) throw invalidLink();
      const before = await accounts.findAccount(accountId);
      // The link came by mail, so the address is verified.
      const account = await accounts.updateAccount(accountId, { passwordHash, emailVerified: true });
      if (account === undefined || "refused" in account) throw invalidLink();
      await deps.sessions.revokeAllSessions(accountId);
      // A link or sign-in in progress at a provider must not outlast the old password.
      await codes.dropTickets(accountId);
      // Whoever created the account never verified the address: a provider that they linked would let them in again, and a
      // key that they created could read what its owner stores here.
      let keysEnded = 0;
      if (before?.emailVerified !== true) {
        await deps.identities.unlinkAllIdentities(accountId);
        keysEnded = await deps.keys.revokeAllKeys(accountId);
      }
      deps.accountsChanged();
      const detail = keysEnded === 0 ? {} : { keys_revoked: keysEnded };
      await deps.audit.addAudit({ accountId, event: "password_reset", ...client, detail });
      deps.mailer.send(passwordChangedMail(account.email, account.username, { keysEnded }));
    },
  };
}

function invalidLink(): ApiError {
  return new ApiError("invalid_code", "The link is invalid: it was already used or has expired.", {
    param: "token",
  });
}
