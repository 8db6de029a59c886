// Signing in with a password. An unknown name and a wrong password get the same answer after the same work, and an
// attempt counts before its password is hashed.

import { ApiError } from "../../base/errors.ts";
import type { SignInThrottle } from "../../shared-state/sign-in-throttle.ts";
import { type Account, type AccountStore, foldName } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import { addressName } from "../address-name.ts";
import type { Client } from "../client.ts";
import type { PasswordHasher } from "../passwords/hash-queue.ts";
import { isOutdatedHash, nobodysHash } from "../passwords/passwords.ts";

/** What signing in needs. */
export interface SignInDeps {
  readonly accounts: Pick<AccountStore, "findAccountByLogin" | "findAccount" | "updateAccount">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly attempts: SignInThrottle;
  readonly hasher: PasswordHasher;
  /** An error that the client need not know about. */
  failed(message: string, error: unknown): void;
}

/** A name and a password. */
export interface Credentials {
  /** A user name or an e-mail address. */
  readonly login: string;
  readonly password: string;
}

/**
 * Returns the account, or throws `ApiError` 401 `invalid_credentials`, 429 `too_many_attempts` or 503 `server_busy`.
 */
export type SignIn = (credentials: Credentials, client: Client) => Promise<Account>;

/** Builds the verb. */
export function signIn(deps: SignInDeps): SignIn {
  const { accounts, audit, hasher } = deps;
  const nobodys = nobodysHash();

  /** Off the request path: hashes again with the current parameters. */
  const upgrade = async ({ id, passwordHash: old }: Account, password: string): Promise<void> => {
    const passwordHash = await hasher.hash(password);
    // Unless the password was changed meanwhile.
    if ((await accounts.findAccount(id))?.passwordHash === old) await accounts.updateAccount(id, { passwordHash });
  };

  return async ({ login, password }, client) => {
    let account = await accounts.findAccountByLogin(login);
    const attempt = await deps.attempts.begin([
      account === undefined ? `login:name:${foldName(login)}` : `login:account:${account.id}`,
      `login:${addressName(client.address)}`,
    ]);
    if (!attempt.allowed) {
      throw new ApiError("too_many_attempts", "Too many attempts to sign in. Try again later.", {
        retryAfterSeconds: attempt.retryAfterSeconds,
      });
    }
    const verify = (hash: string) =>
      hasher.verify(password, hash).catch((error) => {
        // Not checked, so not a guess: a busy server must not lock people out.
        attempt.uncount();
        throw error;
      });
    let right = await verify(account?.passwordHash ?? nobodys);
    if (right && account !== undefined) {
      // Hashing takes time, in a queue seconds: an account that was changed or deleted meanwhile must not be admitted.
      const now = await accounts.findAccount(account.id);
      if (now?.passwordHash !== account.passwordHash) right = await verify(now?.passwordHash ?? nobodys);
      account = now;
    }
    if (account === undefined || account.passwordHash === null || !right) {
      // For an unknown account the same statement writes nothing.
      await audit.addAudit({ accountId: account?.id ?? "", event: "login_failed", ...client });
      throw new ApiError("invalid_credentials", "The user name or password is wrong.");
    }
    attempt.uncount();
    await audit.addAudit({ accountId: account.id, event: "login", ...client });
    if (isOutdatedHash(account.passwordHash)) {
      void upgrade(account, password).catch((error) => deps.failed("a password hash could not be renewed", error));
    }
    return account;
  };
}
