// Links between accounts and persons at identity providers. An account has at most one identity for each provider, and
// the last way to sign in to an account is never removed.

import { and, asc, count, eq, isNotNull, type SQL } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import type { TierId } from "../../config/schema.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { requireStorable } from "../values.ts";
import { identities } from "./schema.ts";

/** A person at a provider. */
export interface Identity {
  readonly provider: string;
  readonly subject: string;
  readonly email: string | null;
}

/** Verbs over identities. */
export type IdentityStore = ReturnType<typeof identityStore>;

const LOWEST_TIER: TierId = "free";

/** Most gateways have no projects, and never load their code. */
const endGroupRoles = lazily(() => {
  const { endGroupRoles }: typeof import("./project-members.ts") = require("./project-members.ts");
  return endGroupRoles;
});

/** Builds the verbs. */
export function identityStore(store: Store) {
  const { db, clock } = store;
  const isIdentity = (identity: { provider: string; subject: string }) =>
    and(eq(identities.provider, identity.provider), eq(identities.subject, identity.subject));
  const ofAccount = (accountId: string, provider: string) =>
    and(eq(identities.accountId, accountId), eq(identities.provider, provider));

  return {
    /** The id of the account that this person is linked to. */
    async findAccountOfIdentity(provider: string, subject: string): Promise<string | undefined> {
      const found = await db
        .select({ accountId: identities.accountId })
        .from(identities)
        .where(isIdentity({ provider, subject }))
        .get();
      return found?.accountId;
    },

    /**
     * Links a person to an account. `taken`: the person is linked to another account, or the account to another person of
     * this provider.
     */
    async linkIdentity(accountId: string, identity: Identity): Promise<"linked" | "already_linked" | "taken"> {
      requireStorable({ ...identity });
      return store.transaction(function* (): Work<"linked" | "already_linked" | "taken"> {
        const { provider, subject, email } = identity;
        const find = (which: SQL | undefined) => db.select().from(identities).where(which).get();
        const owner = yield* step(() => find(isIdentity(identity)));
        if (owner !== undefined) return owner.accountId === accountId ? "already_linked" : "taken";
        if ((yield* step(() => find(ofAccount(accountId, provider)))) !== undefined) return "taken";
        const row = { provider, subject, accountId, email, createdAtMs: clock.now() };
        yield* step(() => db.insert(identities).values(row).run());
        return "linked";
      });
    },

    /** An account's identities by provider. */
    async listIdentities(accountId: string): Promise<Identity[]> {
      return db
        .select({ provider: identities.provider, subject: identities.subject, email: identities.email })
        .from(identities)
        .where(eq(identities.accountId, accountId))
        .orderBy(asc(byBytes(identities.provider)))
        .all();
    },

    /** Unlinks every provider, and ends the memberships and the plan that their groups gave. */
    async unlinkAllIdentities(accountId: string): Promise<void> {
      const given = and(eq(accounts.id, accountId), isNotNull(accounts.tierProvider));
      await store.transaction(function* (): Work<void> {
        yield* step(() => db.delete(identities).where(eq(identities.accountId, accountId)).run());
        yield* endGroupRoles()(store, accountId);
        yield* step(() => db.update(accounts).set({ tier: LOWEST_TIER, tierProvider: null }).where(given).run());
      });
    },

    /** Unlinks a provider. `last_way_in`: there is no password and no other identity, so it is kept. */
    async unlinkIdentity(accountId: string, provider: string): Promise<"unlinked" | "not_linked" | "last_way_in"> {
      return store.transaction(function* (): Work<"unlinked" | "not_linked" | "last_way_in"> {
        const own = ofAccount(accountId, provider);
        if ((yield* step(() => db.select().from(identities).where(own).get())) === undefined) return "not_linked";
        const all = eq(identities.accountId, accountId);
        const linked = yield* step(() => db.select({ n: count() }).from(identities).where(all).get());
        const account = yield* step(() =>
          db.select({ hash: accounts.passwordHash }).from(accounts).where(eq(accounts.id, accountId)).get(),
        );
        if (linked?.n === 1 && account?.hash == null) return "last_way_in";
        yield* step(() => db.delete(identities).where(own).run());
        return "unlinked";
      });
    },
  };
}
