// Changes a known password. The current one is required and counts as a sign-in attempt; all other sessions end.

import { ApiError } from "../../base/errors.ts";
import type { SignInThrottle } from "../../shared-state/sign-in-throttle.ts";
import type { Account, AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { CodeStore } from "../../store/access/codes.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import { addressName } from "../address-name.ts";
import type { Client } from "../client.ts";
import type { Mailer } from "../mail/mailer.ts";
import { passwordChangedMail } from "../mail/mails.ts";
import type { PasswordHasher } from "./hash-queue.ts";
import { passwordFault } from "./passwords.ts";

/** What a change needs. */
export interface PasswordChangeDeps {
  readonly accounts: Pick<AccountStore, "findAccount" | "updateAccount">;
  readonly codes: Pick<CodeStore, "dropTickets">;
  readonly sessions: Pick<SessionStore, "revokeAllSessions">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly mailer: Pick<Mailer, "send">;
  readonly hasher: PasswordHasher;
  /** The limits of signing in: a stolen token gives no additional guesses. */
  readonly attempts: SignInThrottle;
}

/** The account, and the session that continues. */
export interface Changing {
  readonly account: Account;
  readonly sessionId: string;
}

/** Throws `ApiError` 400 `invalid_request`, 401 `invalid_credentials`, 429 `too_many_attempts` or 503 `server_busy`. */
export type ChangePassword = (
  who: Changing,
  passwords: { readonly current: string; readonly next: string },
  client: Client,
) => Promise<void>;

/** Builds the verb. */
export function changePassword(deps: PasswordChangeDeps): ChangePassword {
  return async ({ account, sessionId }, { current, next }, client) => {
    const fault = passwordFault(next);
    if (fault !== undefined) throw new ApiError("invalid_request", fault, { param: "password" });
    if (account.passwordHash === null) {
      throw new ApiError("invalid_request", "The account has no password yet: request a link to set one by mail.", {
        param: "current_password",
      });
    }
    const attempt = await deps.attempts.begin([`login:account:${account.id}`, `login:${addressName(client.address)}`]);
    if (!attempt.allowed) {
      const { retryAfterSeconds } = attempt;
      throw new ApiError("too_many_attempts", "Too many wrong passwords. Try again later.", { retryAfterSeconds });
    }
    const right = await deps.hasher.verify(current, account.passwordHash).catch((error) => {
      attempt.uncount();
      throw error;
    });
    if (!right) {
      await deps.audit.addAudit({ accountId: account.id, event: "password_change_failed", ...client });
      throw wrongPassword();
    }
    attempt.uncount();
    const passwordHash = await deps.hasher.hash(next);
    // Hashing takes time, in a queue seconds: a password that was reset by mail meanwhile is kept.
    if ((await deps.accounts.findAccount(account.id))?.passwordHash !== account.passwordHash) throw wrongPassword();
    await deps.accounts.updateAccount(account.id, { passwordHash });
    await deps.sessions.revokeAllSessions(account.id, sessionId);
    // A link or sign-in in progress at a provider, or a mailed link, must not outlast the old password.
    await deps.codes.dropTickets(account.id);
    await deps.audit.addAudit({ accountId: account.id, event: "password_changed", ...client });
    deps.mailer.send(passwordChangedMail(account.email, account.username));
  };
}

function wrongPassword(): ApiError {
  return new ApiError("invalid_credentials", "The current password is wrong.");
}
