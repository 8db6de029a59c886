// Callers without a key at the endpoints of Ollama's format, whose clients often cannot send one: from the addresses that the
// operator lists, all as one account of the free plan. Loaded with the first such request.

import { exchangeOf } from "../../http/exchange.ts";
import { parseCidr } from "../../net/address.ts";
import type { AccountStore } from "../../store/access/accounts.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { Caller } from "./caller.ts";

export interface AnonymousCallersDeps {
  readonly accounts: Pick<AccountStore, "findAccountByEmail" | "createAccount" | "countAccounts">;
  readonly keys: Pick<KeyStore, "houseKey">;
  /** The listed addresses and ranges. */
  allowed(): readonly string[];
  callerOf(keyId: string): Promise<Caller | undefined>;
}

const PATHS = /^\/api\/(?:chat|generate|embed|tags|ps|show)$/;
/** No mail is ever sent to this domain, so nobody can confirm the address. */
const EMAIL = "anonymous@ollama.invalid";
const NAME = "anonymous-ollama";

/** Creates the function that finds the caller of a request without a key; its result is undefined if it is not let in. */
export function createAnonymousCallers({ accounts, keys, allowed, callerOf }: AnonymousCallersDeps) {
  let read: { readonly list: readonly string[]; readonly tests: readonly ((address: string) => boolean)[] } | undefined;
  const isListed = (address: string) => {
    const list = allowed();
    if (read?.list !== list) read = { list, tests: list.flatMap((range) => parseCidr(range) ?? []) };
    return read.tests.some((holds) => holds(address));
  };
  const account = async () => {
    const known = await accounts.findAccountByEmail(EMAIL);
    if (known !== undefined) return known;
    // The first account is that of the operator.
    if ((await accounts.countAccounts()) === 0) return undefined;
    const made = await accounts.createAccount({ username: NAME, email: EMAIL, tier: "free", emailVerified: true });
    // Another request, here or on another node, may have made it at the same moment.
    return "refused" in made ? accounts.findAccountByEmail(EMAIL) : made;
  };
  const find = async (): Promise<Caller | undefined> => {
    const owner = await account();
    // Somebody may have signed up with the address. Others must not ask on that account.
    if (owner === undefined || owner.passwordHash !== null) return undefined;
    const key = await keys.houseKey(owner.id, NAME);
    const caller = await callerOf(key.id);
    // Nobody could delete what is stored.
    return caller && { ...caller, noStore: true };
  };
  return (request: Request): Promise<Caller | undefined> | undefined => {
    const { path, address, isUnnamedProxy } = exchangeOf(request);
    if (!PATHS.test(path)) return undefined;
    // A page of any site could ask in the name of its reader. Programs that show pages of their own have other schemes.
    if (/^https?:/i.test(request.headers.get("origin") ?? "")) return undefined;
    // The listed address may be that of a proxy behind which the whole internet is.
    if (isUnnamedProxy || !isListed(address)) return undefined;
    return find();
  };
}
