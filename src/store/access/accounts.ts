// Accounts. User names and e-mail addresses are unique regardless of case. Deleting an account deletes all its data,
// but its token counts stay in the totals without a name.

import { and, asc, count, desc, eq, gt, gte, inArray, lt, sql } from "drizzle-orm";
import { union } from "drizzle-orm/sqlite-core";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import type { TierId } from "../../config/schema.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts, usage } from "../schema.ts";
import { SUMS } from "../usage/sql.ts";
import { requireStorable } from "../values.ts";
import { uploadBytes } from "../work/upload-bytes.ts";
import { isOpenInvite } from "./codes.ts";
import type { Identity } from "./identities.ts";
import { identities, invites } from "./schema.ts";

/** An account as stored. */
export type Account = Omit<typeof accounts.$inferSelect, "usernameKey" | "emailKey" | "tierProvider">;

/** The fields of a new account; the others have defaults. */
export interface NewAccount {
  readonly username: string;
  readonly email: string;
  readonly tier: TierId;
  readonly passwordHash?: string | null;
  readonly emailVerified?: boolean;
  readonly trialEndsAtMs?: number | null;
  readonly subscriptionUntilMs?: number | null;
  readonly admin?: boolean;
  /** Create it only if there is no account yet, checked in the same transaction. */
  readonly mustBeFirst?: boolean;
  /** The hash of an invitation, which is used up. */
  readonly inviteHash?: string;
  /** The identity at a provider that is linked to the account. */
  readonly identity?: Identity;
}

/** Why an account was not created. */
export interface AccountRefused {
  readonly refused: "email_taken" | "username_taken" | "not_first" | "invite_invalid" | "identity_taken";
}

/** Columns that may be changed after creation. */
export type AccountChange = Partial<Omit<Account, "id" | "createdAtMs">>;

/** The plan that groups of an identity provider give. */
export interface GroupPlan {
  /** Undefined: they give none. */
  readonly tier: TierId | undefined;
  /** The plan of new accounts. It is had again when the groups give none, with its trial counted from the account's creation. */
  readonly start: { readonly id: TierId; readonly trialMs?: number };
}

/** Verbs over accounts. */
export type AccountStore = ReturnType<typeof accountStore>;

/** Maximum number of accounts on one page of a listing. */
const PAGE_MAX = 500;

/** The normalised form in which a name or address is unique. */
export function foldName(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}

const COLUMNS = {
  id: accounts.id,
  username: accounts.username,
  email: accounts.email,
  passwordHash: accounts.passwordHash,
  emailVerified: accounts.emailVerified,
  tier: accounts.tier,
  trialEndsAtMs: accounts.trialEndsAtMs,
  subscriptionUntilMs: accounts.subscriptionUntilMs,
  admin: accounts.admin,
  createdAtMs: accounts.createdAtMs,
};

/** Builds the verbs. */
export function accountStore(store: Store) {
  const parts = accountParts(store);
  return {
    ...creatingAccounts(store, parts),
    ...findingAccounts(parts),
    ...listingAccounts(store),
    ...changingAccounts(store, parts),
  };
}

/** Statements and checks that several verbs share. */
type Parts = ReturnType<typeof accountParts>;

function accountParts({ db }: Store) {
  const key = sql.placeholder("key");
  const byId = lazily(() => db.select(COLUMNS).from(accounts).where(eq(accounts.id, key)).prepare());
  const byEmail = lazily(() => db.select(COLUMNS).from(accounts).where(eq(accounts.emailKey, key)).prepare());
  const byUsername = lazily(() => db.select(COLUMNS).from(accounts).where(eq(accounts.usernameKey, key)).prepare());
  const counted = lazily(() => db.select({ n: count() }).from(accounts).prepare());

  /** Whether another account than `exceptId` has the name or the address. */
  function* taken(
    { username, email }: { username?: string; email?: string },
    exceptId = "",
  ): Work<AccountRefused | undefined> {
    const emailOwner = email === undefined ? undefined : yield* step(() => byEmail().get({ key: foldName(email) }));
    const nameOwner =
      username === undefined ? undefined : yield* step(() => byUsername().get({ key: foldName(username) }));
    // The name is checked first, since a taken name must not reveal whether the address is taken.
    if (nameOwner !== undefined && nameOwner.id !== exceptId) return { refused: "username_taken" };
    if (emailOwner !== undefined && emailOwner.id !== exceptId) return { refused: "email_taken" };
    return undefined;
  }
  return { byId, byEmail, byUsername, counted, taken };
}

function creatingAccounts(store: Store, parts: Parts) {
  const { db, clock } = store;
  return {
    /** Creates an account, or returns why not. */
    async createAccount(input: NewAccount): Promise<Account | AccountRefused> {
      requireStorable({ username: input.username, email: input.email, tier: input.tier });
      requireStorable({ ...input.identity });
      return store.transaction(function* (): Work<Account | AccountRefused> {
        const { identity } = input;
        if (identity !== undefined && (yield* isKnownIdentity(store, identity))) return { refused: "identity_taken" };
        if (input.mustBeFirst === true && ((yield* step(() => parts.counted().get()))?.n ?? 0) > 0)
          return { refused: "not_first" };
        const refused = yield* parts.taken(input);
        if (refused !== undefined) return refused;
        const invite = input.inviteHash === undefined ? undefined : isOpenInvite(input.inviteHash, clock.now());
        const findInvite = () => db.select({ id: invites.id }).from(invites).where(invite).get();
        if (invite !== undefined && (yield* step(findInvite)) === undefined) return { refused: "invite_invalid" };
        const account: Account = {
          id: uuid(),
          username: input.username.trim(),
          email: input.email.trim(),
          passwordHash: input.passwordHash ?? null,
          emailVerified: input.emailVerified ?? false,
          tier: input.tier,
          trialEndsAtMs: input.trialEndsAtMs ?? null,
          subscriptionUntilMs: input.subscriptionUntilMs ?? null,
          admin: input.admin ?? false,
          createdAtMs: clock.now(),
        };
        const keys = { usernameKey: foldName(account.username), emailKey: foldName(account.email) };
        yield* step(() =>
          db
            .insert(accounts)
            .values({ ...account, ...keys })
            .run(),
        );
        if (invite !== undefined) {
          const used = { usedAtMs: account.createdAtMs, usedBy: account.id };
          yield* step(() => db.update(invites).set(used).where(invite).run());
        }
        if (identity !== undefined) {
          const row = { ...identity, accountId: account.id, createdAtMs: account.createdAtMs };
          yield* step(() => db.insert(identities).values(row).run());
        }
        return account;
      });
    },
  };
}

function findingAccounts({ byId, byEmail, byUsername, counted }: Parts) {
  return {
    /** The account with this id. */
    async findAccount(id: string): Promise<Account | undefined> {
      return byId().get({ key: id });
    },

    /** The account with this address, ignoring case. */
    async findAccountByEmail(email: string): Promise<Account | undefined> {
      return byEmail().get({ key: foldName(email) });
    },

    /** The account with this address or user name, ignoring case. */
    async findAccountByLogin(usernameOrEmail: string): Promise<Account | undefined> {
      const name = { key: foldName(usernameOrEmail) };
      return (await byEmail().get(name)) ?? (await byUsername().get(name));
    },

    /** How many accounts there are. */
    async countAccounts(): Promise<number> {
      return (await counted().get())?.n ?? 0;
    },
  };
}

function listingAccounts({ db }: Store) {
  return {
    /** Up to `limit` (at most 500) accounts in order of creation, after the account `afterId`. */
    async listAccounts(options: { afterId?: string; limit?: number } = {}): Promise<Account[]> {
      // Ids sort by creation time.
      return db
        .select(COLUMNS)
        .from(accounts)
        .where(gt(byBytes(accounts.id), options.afterId ?? ""))
        .orderBy(asc(byBytes(accounts.id)))
        .limit(Math.min(options.limit ?? PAGE_MAX, PAGE_MAX))
        .all();
    },

    /**
     * The accounts whose name or address begins with a text, ignoring case; the newest first, created before the account
     * `beforeId`. All accounts for an empty text.
     */
    async searchAccounts(begins: string, options: { beforeId?: string; limit?: number } = {}): Promise<Account[]> {
      const from = foldName(begins);
      // Ranges instead of LIKE, and one query for each column, so that both use their index.
      const starting = (column: typeof accounts.usernameKey | typeof accounts.emailKey) =>
        db
          .select({ id: accounts.id })
          .from(accounts)
          .where(and(gte(byBytes(column), from), lt(byBytes(column), `${from}\u{10ffff}`)));
      const matches = inArray(accounts.id, union(starting(accounts.usernameKey), starting(accounts.emailKey)));
      return db
        .select(COLUMNS)
        .from(accounts)
        .where(
          and(
            from === "" ? undefined : matches,
            options.beforeId === undefined ? undefined : lt(byBytes(accounts.id), options.beforeId),
          ),
        )
        .orderBy(desc(byBytes(accounts.id)))
        .limit(Math.min(options.limit ?? PAGE_MAX, PAGE_MAX))
        .all();
    },
  };
}

const leaveAllProjects = lazily(() => {
  const { leaveAllProjects }: typeof import("./project-members.ts") = require("./project-members.ts");
  return leaveAllProjects;
});

function changingAccounts(store: Store, parts: Parts) {
  const { db } = store;
  const uploads = uploadBytes(store);
  return {
    /** Changes columns of an account; undefined if there is no such account. */
    async updateAccount(id: string, change: AccountChange): Promise<Account | AccountRefused | undefined> {
      requireStorable({ username: change.username, email: change.email, tier: change.tier });
      return store.transaction(function* (): Work<Account | AccountRefused | undefined> {
        const refused = yield* parts.taken(change, id);
        if (refused !== undefined) return refused;
        const keys = {
          ...(change.username === undefined ? {} : { usernameKey: foldName(change.username) }),
          ...(change.email === undefined ? {} : { emailKey: foldName(change.email) }),
        };
        if (Object.keys(change).length === 0) return yield* step(() => parts.byId().get({ key: id }));
        // A person's word, which groups of an identity provider do not change.
        const byPerson = change.tier === undefined ? {} : { tierProvider: null };
        const set = { ...change, ...keys, ...byPerson };
        return yield* step(() => db.update(accounts).set(set).where(eq(accounts.id, id)).returning(COLUMNS).get());
      });
    },

    /**
     * Gives an account the plan of its groups at an identity provider, and ends the plan that they gave before. A plan that a
     * person set, or another provider gave, stays. Returns the new plan; undefined if nothing changed.
     */
    async setGroupPlan(id: string, provider: string, { tier, start }: GroupPlan): Promise<TierId | undefined> {
      requireStorable({ provider });
      return store.transaction(function* (): Work<TierId | undefined> {
        const row = yield* step(() => db.select().from(accounts).where(eq(accounts.id, id)).get());
        if (row === undefined) return undefined;
        const isOurs = row.tierProvider === provider;
        const isStart = row.tierProvider === null && row.tier === start.id && row.subscriptionUntilMs === null;
        if (tier === undefined ? !isOurs : !(isOurs ? row.tier !== tier : isStart)) return undefined;
        const trialMs = row.admin ? 0 : (start.trialMs ?? 0);
        const trialEndsAtMs = tier === undefined && trialMs > 0 ? row.createdAtMs + trialMs : null;
        const set = { tier: tier ?? start.id, tierProvider: tier === undefined ? null : provider, trialEndsAtMs };
        yield* step(() => db.update(accounts).set(set).where(eq(accounts.id, id)).run());
        return set.tier;
      });
    },

    /** Deletes the account and all its data, including uploads; its tokens stay in the totals. True if it existed. */
    async deleteAccount(id: string): Promise<boolean> {
      const existed = await store.transaction(
        function* (): Work<boolean> {
          if ((yield* step(() => parts.byId().get({ key: id }))) === undefined) return false;
          yield* leaveAllProjects()(store, id);
          yield* unattribute(store, id);
          yield* step(() => db.delete(usage).where(eq(usage.accountId, id)).run());
          // Keys, sessions, files, jobs, threads and responses are deleted by cascade.
          yield* step(() => db.delete(accounts).where(eq(accounts.id, id)).run());
          return true;
        },
        { isLong: true },
      );
      if (existed) await uploads.dropAll(id);
      return existed;
    },
  };
}

function* isKnownIdentity(store: Store, { provider, subject }: Identity): Work<boolean> {
  const same = and(eq(identities.provider, provider), eq(identities.subject, subject));
  const known = yield* step(() => store.db.select({ id: identities.accountId }).from(identities).where(same).get());
  return known !== undefined;
}

/** An account's roll-ups by table: which columns identify a row besides account and key, and which are summed. */
const ROLLUPS = [
  { table: "usage_daily", by: ["day", "model"], sums: SUMS },
  { table: "usage_hourly", by: ["hour", "model"], sums: SUMS },
  { table: "usage_labels", by: ["unit", "start", "kind", "name", "model"], sums: SUMS },
  {
    table: "usage_latency",
    by: ["unit", "start", "model", "status_class", "bucket"],
    sums: ["requests", "first_bytes"],
  },
] as const;

/** Removes the account from its roll-ups. */
function* unattribute(store: Store, accountId: string): Work<void> {
  // Tags are the words of the account.
  const dropTags = store.statement("DELETE FROM usage_labels WHERE account_id = ? AND kind = 'tag'");
  yield* step(() => dropTags.run([accountId]));
  for (const { table, by, sums } of ROLLUPS) {
    const group = by.join(", ");
    const add = store.statement(
      `INSERT INTO ${table} (account_id, key_id, ${group}, ${sums.join(", ")})
         SELECT '', '', ${group}, ${sums.map((name) => `SUM(${name})`).join(", ")}
         FROM ${table} WHERE account_id = ? GROUP BY ${group}
         ON CONFLICT (account_id, key_id, ${group})
         DO UPDATE SET ${sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ")}`,
    );
    yield* step(() => add.run([accountId]));
    const remove = store.statement(`DELETE FROM ${table} WHERE account_id = ?`);
    yield* step(() => remove.run([accountId]));
  }
}
