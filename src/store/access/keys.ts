// API keys. A key is shown once, when it is created; only its SHA-256 is stored. The look-up on the request path is one
// prepared query.

import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { randomText, sha256Hex, uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts, apiKeys, type ManagementScope } from "../schema.ts";
import type { SpendingWindow } from "../usage/spending.ts";
import { requireStorable } from "../values.ts";
import { HOUSE_KEY, keyListing, notHouse } from "./key-listing.ts";
import { INFO_COLUMNS, type KeyChange, type KeyInfo, LIVE_COLUMNS, type LiveKey, type NewKey } from "./key-rows.ts";
import { projectMembers, projects } from "./schema.ts";

/** Verbs over API keys. */
export type KeyStore = ReturnType<typeof keyStore>;

const KEY_PREFIX = "sk-";
const MANAGEMENT_KEY_PREFIX = "sk-m-";
// 48 of 62 characters: 285 bits, so a plain hash of it cannot be reversed by guessing.
const KEY_RANDOM_CHARS = 48;

/** Builds the verbs. */
export function keyStore(store: Store) {
  return {
    ...keyLookups(store),
    ...keyMaking(store),
    ...keyListing(store),
    ...keyChanging(store),
    ...keyEnding(store),
  };
}

function keyLookups({ db, clock }: Store) {
  const liveBy = (which: () => SQL, expiry: SQL = sql`${apiKeys.expiresAtMs}`) =>
    lazily(() =>
      db
        .select({ ...LIVE_COLUMNS, expiresAtMs: sql<number | null>`${expiry}`.mapWith(Number) })
        .from(apiKeys)
        .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
        .leftJoin(projects, eq(projects.id, apiKeys.projectId))
        .where(and(which(), isNull(apiKeys.revokedAtMs)))
        .prepare(),
    );
  const live = liveBy(() => eq(apiKeys.hash, sql.placeholder("hash")));
  const livePrevious = liveBy(
    () => eq(apiKeys.previousHash, sql.placeholder("hash")),
    sql`CASE WHEN ${apiKeys.expiresAtMs} < ${apiKeys.previousUntilMs} THEN ${apiKeys.expiresAtMs}
      ELSE ${apiKeys.previousUntilMs} END`,
  );
  const liveById = liveBy(() => eq(apiKeys.id, sql.placeholder("id")));
  const unexpired = (row: LiveKey | undefined) =>
    row !== undefined && (row.expiresAtMs === null || row.expiresAtMs > clock.now()) ? row : undefined;
  const budget = lazily(() =>
    db
      .select({
        limitMicros: apiKeys.budgetMicros,
        periodMs: apiKeys.budgetPeriodMs,
        windowStartMs: apiKeys.budgetWindowStartMs,
        spentMicros: apiKeys.spentMicros,
      })
      .from(apiKeys)
      .where(eq(apiKeys.id, sql.placeholder("id")))
      .prepare(),
  );

  return {
    /**
     * The key with this SHA-256 (lower-case hex), unless it is revoked or expired. A caller that caches it must check
     * `expiresAtMs`, which is earlier for a secret that was replaced.
     */
    async findLiveKey(hash: string): Promise<LiveKey | undefined> {
      return unexpired((await live().get({ hash })) ?? (await livePrevious().get({ hash })));
    },

    /**
     * The key with this id, unless it is revoked or expired: for work that continues after its request.
     */
    async findLiveKeyById(id: string): Promise<LiveKey | undefined> {
      return unexpired(await liveById().get({ id }));
    },

    /** A key's budget and what was spent of it according to the usage written so far; undefined if it has none. */
    async findKeyBudget(keyId: string): Promise<SpendingWindow | undefined> {
      const row = await budget().get({ id: keyId });
      if (row === undefined || row.limitMicros === null) return undefined;
      return { ...row, limitMicros: row.limitMicros };
    },
  };
}

function keyMaking({ db, clock, ...store }: Store) {
  return {
    /**
     * Creates a key and returns its secret, which cannot be recovered. Throws when the account does not exist, or is no member of the
     * key's project.
     */
    async createKey(input: NewKey): Promise<{ id: string; key: string }> {
      requireStorable({ name: input.name });
      const key = newSecret(input.management ?? null);
      const id = uuid();
      const nowMs = clock.now();
      const { accountId, projectId = null } = input;
      const insert = db.insert(apiKeys).values({
        id,
        accountId,
        name: input.name,
        ...secretOf(key),
        rpm: input.rpm ?? null,
        budgetMicros: input.budgetMicros ?? null,
        budgetPeriodMs: input.budgetPeriodMs ?? null,
        budgetWindowStartMs: input.budgetMicros == null ? null : nowMs,
        expiresAtMs: input.expiresAtMs ?? null,
        noStore: input.noStore ?? false,
        models: input.models ?? null,
        passthrough: input.passthrough ?? false,
        mcpServers: input.mcpServers ?? null,
        management: input.management ?? null,
        projectId,
        tpm: input.tpm ?? null,
        parallel: input.parallel ?? null,
        disabled: input.disabled ?? false,
        addresses: input.addresses ?? null,
        runMicros: input.runMicros ?? null,
        runRequests: input.runRequests ?? null,
        runRepeats: input.runRepeats ?? null,
        createdAtMs: nowMs,
      });
      if (projectId === null) await insert.run();
      else
        await store.transaction(function* (): Work<void> {
          yield* requireMember({ db }, projectId, accountId);
          yield* step(() => insert.run());
        });
      return { id, key };
    },

    /**
     * The internal key for an account's use of the dashboard, created if missing: its requests are counted and limited, but
     * it never authenticates.
     */
    async houseKey(accountId: string, name: string): Promise<KeyInfo> {
      const id = HOUSE_KEY + accountId;
      await db
        .insert(apiKeys)
        .values({
          id,
          accountId,
          name,
          hash: sha256Hex(randomText(KEY_RANDOM_CHARS)),
          prefix: "",
          lastFour: "",
          createdAtMs: clock.now(),
        })
        .onConflictDoNothing({ target: apiKeys.id })
        .run();
      const row = await db.select(INFO_COLUMNS).from(apiKeys).where(eq(apiKeys.id, id)).get();
      if (row === undefined) throw new Error("a key that was made is not there");
      return row;
    },
  };
}

/** Throws unless the account is a member of the project, within a transaction that puts one of its keys there. */
function* requireMember({ db }: Pick<Store, "db">, projectId: string, accountId: string): Work<void> {
  const which = and(eq(projectMembers.projectId, projectId), eq(projectMembers.accountId, accountId));
  const found = yield* step(() => db.select({ role: projectMembers.role }).from(projectMembers).where(which).get());
  if (found === undefined) throw new Error("the key's account is no member of the key's project");
}

function keyChanging({ db, clock, ...store }: Store) {
  const liveOf = (id: string, accountId: string) =>
    and(eq(apiKeys.id, id), eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAtMs), notHouse);
  return {
    /**
     * Changes the given settings of a key of the account; false if there is no such live key. The spent amount stays; a first
     * budget begins now.
     */
    async updateKey(id: string, accountId: string, change: Partial<KeyChange>): Promise<boolean> {
      requireStorable({ name: change.name });
      return store.transaction(function* (): Work<boolean> {
        const mine = liveOf(id, accountId);
        const found = yield* step(() =>
          db.select({ startMs: apiKeys.budgetWindowStartMs }).from(apiKeys).where(mine).get(),
        );
        if (found === undefined) return false;
        if (typeof change.projectId === "string") yield* requireMember({ db }, change.projectId, accountId);
        const begin = found.startMs === null ? { budgetWindowStartMs: clock.now(), spentMicros: 0 } : {};
        const window = change.budgetMicros === null ? { budgetWindowStartMs: null } : begin;
        const set = { ...change, ...(change.budgetMicros === undefined ? {} : window) };
        if (Object.keys(set).length > 0) yield* step(() => db.update(apiKeys).set(set).where(mine).run());
        return true;
      });
    },

    /**
     * Gives a key another secret, and keeps everything else. The old secret works for another `graceMs`; that of an earlier
     * rotation no longer. Undefined if there is no such live key.
     */
    async rotateKey(
      id: string,
      { accountId, graceMs }: { readonly accountId: string; readonly graceMs: number },
    ): Promise<{ id: string; key: string } | undefined> {
      return store.transaction(function* (): Work<{ id: string; key: string } | undefined> {
        const nowMs = clock.now();
        const mine = liveOf(id, accountId);
        const found = yield* step(() =>
          db
            .select({ hash: apiKeys.hash, management: apiKeys.management, expiresAtMs: apiKeys.expiresAtMs })
            .from(apiKeys)
            .where(mine)
            .get(),
        );
        if (found === undefined || (found.expiresAtMs !== null && found.expiresAtMs <= nowMs)) return undefined;
        const key = newSecret(found.management);
        const previous =
          graceMs > 0
            ? { previousHash: found.hash, previousUntilMs: nowMs + graceMs }
            : { previousHash: null, previousUntilMs: null };
        yield* step(() =>
          db
            .update(apiKeys)
            .set({ ...secretOf(key), ...previous })
            .where(mine)
            .run(),
        );
        return { id, key };
      });
    },
  };
}

function newSecret(management: ManagementScope | null): string {
  return (management === null ? KEY_PREFIX : MANAGEMENT_KEY_PREFIX) + randomText(KEY_RANDOM_CHARS);
}

/** The stored columns of a key's secret. */
function secretOf(key: string) {
  const kind = key.startsWith(MANAGEMENT_KEY_PREFIX) ? MANAGEMENT_KEY_PREFIX : KEY_PREFIX;
  return { hash: sha256Hex(key), prefix: key.slice(0, kind.length + 4), lastFour: key.slice(-4) };
}

function keyEnding({ db, clock }: Store) {
  return {
    /** Revokes a key permanently; with `accountId`, only a key of that account. False if there is no such live key. */
    async revokeKey(id: string, options: { accountId?: string } = {}): Promise<boolean> {
      const owner = options.accountId === undefined ? undefined : eq(apiKeys.accountId, options.accountId);
      const revoked = await db
        .update(apiKeys)
        .set({ revokedAtMs: clock.now() })
        .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAtMs), owner))
        .returning({ id: apiKeys.id })
        .all();
      return revoked.length > 0;
    },

    /** Revokes every active key of an account except the internal one; returns how many. */
    async revokeAllKeys(accountId: string): Promise<number> {
      const theirs = and(eq(apiKeys.accountId, accountId), notHouse);
      const revoked = await db
        .update(apiKeys)
        .set({ revokedAtMs: clock.now() })
        .where(and(theirs, isNull(apiKeys.revokedAtMs)))
        .returning({ id: apiKeys.id })
        .all();
      return revoked.length;
    },
  };
}
