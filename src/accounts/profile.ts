// The account as its owner sees it (docs/reference/http-api.md#get-v1authme).

import { isoTime } from "../base/iso-time.ts";
import type { Account } from "../store/access/accounts.ts";
import type { Identity } from "../store/access/identities.ts";

/** The body of `GET /v1/auth/me`. */
export function profileView(account: Account, identities: readonly Identity[]) {
  return {
    id: account.id,
    username: account.username,
    email: account.email,
    email_verified: account.emailVerified,
    tier: account.tier,
    trial_ends_at: isoTime(account.trialEndsAtMs),
    oauth_providers: identities.map(({ provider }) => provider),
    created_at: isoTime(account.createdAtMs),
    admin: account.admin,
  };
}
