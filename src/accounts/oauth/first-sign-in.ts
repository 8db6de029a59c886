// Makes the account of a person at their first sign-in through a provider, where `auth.signup` is `oauth`.

import type { Clock } from "../../base/clock.ts";
import { randomText } from "../../base/ids.ts";
import type { TierConfig } from "../../config/schema.ts";
import type { AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { Client } from "../client.ts";
import { emailFault, planStart } from "../new-account.ts";
import type { Person } from "./provider.ts";

/** What making an account needs. */
export interface FirstSignInDeps {
  readonly clock: Clock;
  readonly accounts: Pick<AccountStore, "countAccounts" | "createAccount">;
  readonly audit: Pick<AuditStore, "addAudit">;
  tiers(): readonly TierConfig[];
}

const USERNAME_CHARS_MAX = 64;
/** The characters of an ending that makes a name free. */
const ENDING_CHARS = 6;
const NAME_CHARS_MAX = USERNAME_CHARS_MAX - ENDING_CHARS - 1;

/**
 * Makes the account and returns its id. Undefined if the person has to say more: the provider tells no usable address, another
 * account has the address, or it would be the first account, which needs the link printed at startup.
 */
export async function makeAccount(
  { clock, accounts, audit, tiers }: FirstSignInDeps,
  { slug, person, client }: { readonly slug: string; readonly person: Person; readonly client: Client },
): Promise<string | undefined> {
  const { email, subject } = person;
  const tier = tiers()[0];
  if (tier === undefined) throw new Error("there is no plan");
  if (email === null || emailFault(email) !== undefined || (await accounts.countAccounts()) === 0) return undefined;
  const wanted = nameOf(person.name ?? email);
  for (const username of [wanted, `${firstChars(wanted, NAME_CHARS_MAX)}-${randomText(ENDING_CHARS)}`]) {
    const made = await accounts.createAccount({
      email,
      username,
      passwordHash: null,
      tier: tier.id,
      emailVerified: person.emailVerified,
      ...planStart({ nowMs: clock.now(), trialMs: tier.trialMs }),
      identity: { provider: slug, subject, email },
    });
    if ("id" in made) {
      await audit.addAudit({ accountId: made.id, event: "signup", ...client, detail: { provider: slug } });
      return made.id;
    }
    if (made.refused !== "username_taken") return undefined;
  }
  return undefined;
}

/** A valid user name: that of the provider, without what follows an `@`. */
function nameOf(text: string): string {
  const name = (text.split("@", 1)[0] ?? "").replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  return name === "" ? "user" : firstChars(name, USERNAME_CHARS_MAX);
}

/** By code points, so that no pair of surrogates is cut. */
function firstChars(text: string, charsMax: number): string {
  return [...text].slice(0, charsMax).join("");
}
