// Verifies an account's address: six digits by mail, valid for ten minutes and five tries, one mail per minute.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { SignInThrottle } from "../../shared-state/sign-in-throttle.ts";
import { type Account, foldName } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { CodeStore } from "../../store/access/codes.ts";
import type { Client } from "../client.ts";
import type { Mailer } from "./mailer.ts";
import { verificationMail } from "./mails.ts";

/** What verification needs. */
export interface VerificationDeps {
  readonly clock: Clock;
  readonly codes: Pick<CodeStore, "putVerificationCode" | "tryVerificationCode">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly mailer: Pick<Mailer, "send">;
  /** Codes to an address per day. */
  readonly daily: SignInThrottle;
  /** Six digits can be guessed from a plain hash immediately; not from a keyed one. */
  readonly secret: string;
  accountsChanged(): void;
}

/** Sends and checks codes. */
export interface Verification {
  /** Throws `ApiError` 429 `code_recently_sent`. */
  sendCode(
    account: Account,
  ): Promise<{ success: true; expires_in: number } | { success: true; already_verified: true }>;
  /** Throws `ApiError` 400 `invalid_code` or 429 `too_many_attempts`. */
  verifyCode(account: Account, code: string, client: Client): Promise<{ success: true; email_verified: true }>;
}

const LIFE_MS = 600_000;
const GAP_MS = 60_000;
const TRIES_MAX = 5;
const DIGITS = 6;

/** Builds the verbs. */
export function verification(deps: VerificationDeps): Verification {
  const hashOf = (account: Account, code: string) =>
    new Bun.CryptoHasher("sha256", deps.secret).update(`verification code:${account.id}:${code}`).digest("hex");
  return {
    async sendCode(account) {
      if (account.emailVerified) return { success: true, already_verified: true };
      const today = await deps.daily.begin([`code:${foldName(account.email)}`]);
      if (!today.allowed) throw recentlySent(today.retryAfterSeconds);
      const code = digits();
      const stored = await deps.codes.putVerificationCode({
        accountId: account.id,
        codeHash: hashOf(account, code),
        expiresAtMs: deps.clock.now() + LIFE_MS,
        gapMs: GAP_MS,
      });
      if (!stored.stored) {
        today.uncount();
        throw recentlySent((stored.againAtMs - deps.clock.now()) / 1000);
      }
      const sent = deps.mailer.send(
        verificationMail(account.email, account.username, { code, minutes: LIFE_MS / 60_000 }),
      );
      if (!sent)
        throw new ApiError("server_busy", "Mail cannot be sent at the moment. Try again later.", {
          retryAfterSeconds: 60,
        });
      return { success: true, expires_in: LIFE_MS / 1000 };
    },

    async verifyCode(account, code, client) {
      const codeHash = hashOf(account, code.replaceAll(/[\s-]/g, ""));
      const outcome = await deps.codes.tryVerificationCode({ accountId: account.id, codeHash, triesMax: TRIES_MAX });
      if (outcome === "too_many_tries") {
        throw new ApiError("too_many_attempts", "Too many wrong codes. Ask for a new one.", {
          retryAfterSeconds: GAP_MS / 1000,
        });
      }
      if (outcome === "wrong") {
        throw new ApiError("invalid_code", "The code is wrong or has expired.", { param: "code" });
      }
      deps.accountsChanged();
      await deps.audit.addAudit({ accountId: account.id, event: "email_verified", ...client });
      return { success: true, email_verified: true };
    },
  };
}

function recentlySent(retryAfterSeconds: number): ApiError {
  return new ApiError("code_recently_sent", "A code was already sent. Check your mail, or ask again later.", {
    retryAfterSeconds,
  });
}

/** All codes are equally likely. */
function digits(): string {
  const count = 10 ** DIGITS;
  const fair = Math.floor(2 ** 32 / count) * count;
  for (;;) {
    const drawn = crypto.getRandomValues(new Uint32Array(1))[0]!;
    if (drawn < fair) return String(drawn % count).padStart(DIGITS, "0");
  }
}
