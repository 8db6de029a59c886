// The first account of a new gateway: an admin on the highest plan with one key. Created once, while there is no account.

import { planStart } from "../accounts/new-account.ts";
import { hashPassword } from "../accounts/passwords/passwords.ts";
import { randomText } from "../base/ids.ts";
import type { Config } from "../config/schema.ts";
import { accountStore } from "../store/access/accounts.ts";
import { keyStore } from "../store/access/keys.ts";
import type { Store } from "../store/engine/store.ts";

/** 24 of 62 characters: 142 bits. */
const PASSWORD_CHARS = 24;

/** The credentials that the operator sees once. Neither the password nor the key can be recovered. */
export interface FirstAccount {
  readonly email: string;
  readonly username: string;
  readonly password: string;
  readonly key: string;
}

/** Creates the first account and its key; undefined if there already is an account. */
export async function createFirstAccount(
  store: Store,
  config: Config,
  who: { readonly email?: string; readonly username?: string; readonly password?: string } = {},
): Promise<FirstAccount | undefined> {
  const { email = "admin@localhost", username = "admin", password = randomText(PASSWORD_CHARS) } = who;
  if ((await accountStore(store).countAccounts()) > 0) return undefined;
  const tier = config.tiers.at(-1);
  const made = await accountStore(store).createAccount({
    email,
    username,
    passwordHash: await hashPassword(password),
    emailVerified: true,
    admin: true,
    mustBeFirst: true,
    tier: tier?.id ?? "premium",
    ...planStart({ nowMs: store.clock.now(), trialMs: tier?.trialMs, admin: true }),
  });
  // Another process has created the account meanwhile.
  if ("refused" in made) return undefined;
  const { key } = await keyStore(store).createKey({ accountId: made.id, name: "first" });
  return { email, username, password, key };
}
