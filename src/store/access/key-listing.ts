// Finds and lists API keys: all of an account, or pages of those that a search finds.

import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lte, ne, or, type SQL, sql } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { apiKeys, usageDaily } from "../schema.ts";
import { INFO_COLUMNS, type KeyInfo } from "./key-rows.ts";

/** The keys of an account, those of a project, or (without either) all. */
export interface KeyScope {
  readonly accountId?: string;
  readonly projectId?: string;
}

/** The states of keys that a listing can be limited to. */
export type KeyState = "live" | "disabled" | "expired" | "revoked";

/** The orders of a listing. */
export type KeyOrder = "created" | "name" | "used" | "spent";

/** Which keys are listed, and in which order. */
export interface KeySearch {
  /** A part of the name or of what is shown of the key, ignoring case, or the whole id. */
  readonly text?: string;
  readonly state?: KeyState;
  readonly projectId?: string;
  /** `created` by default. */
  readonly order?: KeyOrder;
  readonly descending?: boolean;
  readonly skip?: number;
  readonly limit?: number;
  /** Whether revoked keys are left out. */
  readonly isKept?: boolean;
  /** Whether disabled keys are left out. */
  readonly isEnabled?: boolean;
  /** Whether management keys for all accounts are left out. */
  readonly withoutAll?: boolean;
}

/** What keys have spent since days (since the epoch), the oldest first. */
export interface KeySums {
  readonly keyId: string;
  readonly allMicros: number;
  readonly sinceMicros: readonly number[];
}

const PAGE_MAX = 500;
/** The live keys of one account: enough for a large team, and few enough that nobody can fill the disk with keys. */
export const LIVE_KEYS_MAX = 20_000;
/** The same with revoked keys, so that making and revoking keys over and over cannot fill the disk. */
export const KEYS_MAX = 50_000;
/** The prefix of internal keys, which can never be used to authenticate. */
export const HOUSE_KEY = "house-";

/** Excludes internal keys, with which the dashboard counts an account's own requests. */
export const notHouse = ne(apiKeys.id, sql`${HOUSE_KEY} || ${apiKeys.accountId}`);

const ORDERS = {
  created: byBytes(apiKeys.id),
  name: byBytes(apiKeys.name),
  used: sql`COALESCE(${apiKeys.lastUsedAtMs}, 0)`,
  spent: apiKeys.spentMicros,
} as const satisfies Readonly<Record<KeyOrder, unknown>>;

/** Builds the verbs. */
export function keyListing(store: Store) {
  return { ...listingAll(store), ...searching(store), ...summing(store) };
}

function within({ accountId, projectId }: KeyScope): SQL | undefined {
  return and(
    accountId === undefined ? undefined : eq(apiKeys.accountId, accountId),
    projectId === undefined ? undefined : eq(apiKeys.projectId, projectId),
  );
}

function listingAll({ db, clock }: Store) {
  return {
    /** A key, also a revoked one. */
    async findKey(id: string, scope: KeyScope): Promise<KeyInfo | undefined> {
      return db
        .select(INFO_COLUMNS)
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), within(scope)))
        .get();
    },

    /** The number of unrevoked keys of each of these accounts; accounts without keys are left out. */
    async countLiveKeys(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rows = await db
        .select({ id: apiKeys.accountId, keys: count() })
        .from(apiKeys)
        .where(and(inArray(apiKeys.accountId, [...accountIds]), isNull(apiKeys.revokedAtMs), notHouse))
        .groupBy(apiKeys.accountId)
        .all();
      return new Map(rows.map(({ id, keys }) => [id, keys]));
    },

    /** Keys that are live and expire by then, in the order of their ids. */
    async listExpiringKeys(untilMs: number, { afterId = "", limit }: { afterId?: string; limit: number }) {
      const { id, accountId, name, expiresAtMs } = INFO_COLUMNS;
      const soon = and(gt(expiresAtMs, clock.now()), lte(expiresAtMs, untilMs), isNull(apiKeys.revokedAtMs), notHouse);
      return db
        .select({ id, accountId, name, expiresAtMs })
        .from(apiKeys)
        .where(and(soon, gt(byBytes(id), afterId)))
        .orderBy(asc(byBytes(id)))
        .limit(limit)
        .all();
    },

    /** All keys of an account, including revoked ones, oldest first. */
    async listKeys(accountId: string): Promise<KeyInfo[]> {
      return db
        .select(INFO_COLUMNS)
        .from(apiKeys)
        .where(eq(apiKeys.accountId, accountId))
        .orderBy(asc(byBytes(apiKeys.id)))
        .all();
    },
  };
}

function searching({ db, clock }: Store) {
  const stateIs = (state: KeyState): SQL | undefined => {
    const nowMs = clock.now();
    if (state === "revoked") return isNotNull(apiKeys.revokedAtMs);
    const kept = isNull(apiKeys.revokedAtMs);
    if (state === "expired") return and(kept, lte(apiKeys.expiresAtMs, nowMs));
    const unexpired = or(isNull(apiKeys.expiresAtMs), gt(apiKeys.expiresAtMs, nowMs));
    return and(kept, unexpired, eq(apiKeys.disabled, state === "disabled"));
  };
  return {
    /** The keys of a page of a search, without internal ones, and how many the search finds in all. */
    async searchKeys(scope: KeyScope, search: KeySearch = {}): Promise<{ total: number; rows: KeyInfo[] }> {
      const { text = "", state, projectId, order = "created", descending = false, skip = 0, limit = PAGE_MAX } = search;
      const matching = and(
        within(scope),
        notHouse,
        state === undefined ? undefined : stateIs(state),
        projectId === undefined ? undefined : eq(apiKeys.projectId, projectId),
        search.isKept === true ? isNull(apiKeys.revokedAtMs) : undefined,
        search.isEnabled === true ? eq(apiKeys.disabled, false) : undefined,
        search.withoutAll === true ? or(isNull(apiKeys.management), ne(apiKeys.management, "all")) : undefined,
      );
      const direction = descending ? desc : asc;
      // The id makes the order of equal keys definite, so that no key is on two pages.
      const by = order === "created" ? [direction(ORDERS.created)] : [direction(ORDERS[order]), asc(ORDERS.created)];
      const most = Math.min(limit, PAGE_MAX);
      if (text === "") {
        const rows = db
          .select(INFO_COLUMNS)
          .from(apiKeys)
          .where(matching)
          .orderBy(...by);
        const [found] = await db.select({ total: count() }).from(apiKeys).where(matching).all();
        return { total: found?.total ?? 0, rows: await rows.limit(most).offset(skip).all() };
      }
      // Engines fold case in different ways, so names are compared here: of few columns, and whole rows only for the page.
      const all = await db
        .select({ id: apiKeys.id, name: apiKeys.name, prefix: apiKeys.prefix, lastFour: apiKeys.lastFour })
        .from(apiKeys)
        .where(matching)
        .orderBy(...by)
        .all();
      const wanted = text.toLowerCase();
      const found = all.filter(({ id, name, prefix, lastFour }) =>
        `${name}\n${prefix}…${lastFour}\n${id}`.toLowerCase().includes(wanted),
      );
      const ids = found.slice(skip, skip + most).map(({ id }) => id);
      const rows = await db.select(INFO_COLUMNS).from(apiKeys).where(inArray(apiKeys.id, ids)).all();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return { total: found.length, rows: ids.flatMap((id) => byId.get(id) ?? []) };
    },
  };
}

function summing({ db }: Store) {
  return {
    /** What these keys have spent, according to the usage written so far; keys that have spent nothing are left out. */
    async spendingOfKeys(keyIds: readonly string[], sinceDays: readonly number[]): Promise<KeySums[]> {
      const cost = (from: number) =>
        sql<number>`SUM(CASE WHEN ${usageDaily.day} >= ${from} THEN ${usageDaily.costMicros} ELSE 0 END)`.mapWith(
          Number,
        );
      const since = Object.fromEntries(sinceDays.map((day, at) => [`since${at}`, cost(day)]));
      const rows: Readonly<Record<string, unknown>>[] = await db
        .select({ keyId: usageDaily.keyId, all: cost(0), ...since })
        .from(usageDaily)
        .where(inArray(usageDaily.keyId, [...keyIds]))
        .groupBy(usageDaily.keyId)
        .all();
      return rows.map((row) => ({
        keyId: row["keyId"] as string,
        allMicros: row["all"] as number,
        sinceMicros: sinceDays.map((_, at) => row[`since${at}`] as number),
      }));
    },
  };
}
