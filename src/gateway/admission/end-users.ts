// The names by which providers know the gateway's users: keyed hashes, from which nobody without the secret can tell an account.
// An account keeps its name, since providers forget the reasoning of a conversation whose end user changes.

import type { EndUserScope } from "../../upstream/end-user.ts";
import type { Caller } from "./caller.ts";

/** The name of a caller for a provider; undefined if the provider is told none. */
export type EndUsers = (
  caller: Pick<Caller, "accountId" | "keyId">,
  provider: { readonly endUsers: EndUserScope },
) => string | undefined;

/** OpenAI accepts 64 characters in each of its members. 160 bits identify a user. */
const NAME_CHARS = 40;

/** Creates the names with a secret. */
export function createEndUsers(secret: string): EndUsers {
  return ({ accountId, keyId }, { endUsers: scope }) => {
    if (scope === "off") return undefined;
    const subject = scope === "key" ? `key ${keyId}` : `account ${accountId}`;
    return new Bun.CryptoHasher("sha256", secret).update(subject).digest("hex").slice(0, NAME_CHARS);
  };
}
