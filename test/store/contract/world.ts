// The initial state of a contract case, and the form of a case: a claim of one kind about one verb.

import type { FakeClock } from "../../../src/base/clock.ts";
import type { Account } from "../../../src/store/access/accounts.ts";
import type { Verbs } from "../../../src/store/verbs.ts";

/** An empty database, its clock, and functions that fill it. */
export interface World {
  readonly verbs: Verbs;
  readonly clock: FakeClock;
  /** The verbs over another connection, as another process has. */
  again(): Promise<Verbs>;
  /** Creates an account with this name and returns its id. */
  account(name?: string): Promise<string>;
}

/**
 * The subject of a case. `basics`: what the verb does; `concurrency`: many callers at once; `cascade`: what is deleted
 * with its owner; `paging`; `order`: by bytes for text; `time`: what expires and when; `text`: letters of every kind.
 */
export type Kind = "basics" | "concurrency" | "cascade" | "paging" | "order" | "time" | "text";

/** The cases of a verb: `kind: claim`, and the function that shows it. */
export type Cases = Readonly<Record<`${Kind}: ${string}`, (world: World) => Promise<void>>>;

/** The cases of every verb of a domain. A verb without cases does not compile. */
export type Contract<Domain extends keyof Verbs> = Readonly<Record<keyof Verbs[Domain], Cases>>;

/** Texts that are folded, sorted or measured in surprising ways. Each must be read back unchanged. */
export const TEXTS = [
  "",
  "a'b\"c",
  "Straße",
  "e\u0301",
  "\u00e9",
  "日本語",
  "👩‍👩‍👧‍👦",
  "\u202eabc",
  "ﬁ",
  "%_\\",
  "I\u0307ı",
  "\uffff",
  "𐀀",
];

/** Texts that not every database can store, so they are refused. */
export const UNSTORABLE = ["a\u0000b", "\ud800", "a\udc00b"];

/**
 * Texts of one length in the order of their bytes, which is not alphabetical: capitals first, and U+FFFF before
 * U+10000.
 */
export const BY_BYTES = ["B", "Z", "_", "a", "b", "z", "ä", "é", "日", "\uffff", "𐀀"];

/** The account in an answer; throws if it was refused. */
export function made(account: Account | object): Account {
  if (!("id" in account)) throw new Error(`refused: ${JSON.stringify(account)}`);
  return account as Account;
}

/** The state for a case, over opened verbs. */
export function worldOf(opened: { verbs: Verbs; clock: FakeClock; again(): Promise<Verbs> }): World {
  const { verbs, clock } = opened;
  return {
    verbs,
    clock,
    again: () => opened.again(),
    account: async (name = "ann") =>
      made(await verbs.accounts.createAccount({ username: name, email: `${name}@x.example`, tier: "free" })).id,
  };
}
