// The request log: rows of single requests, selected by their properties and outcome. A page of the log is read from a
// limited number of rows, however rare a match is, so that a search does not delay other requests.

import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, ne, or, type SQL } from "drizzle-orm";
import { namedByRequest } from "../../base/ids.ts";
import type { Store } from "../engine/store.ts";
import { accounts, apiKeys, hasWholeAnswerId, usage } from "../schema.ts";
import { STOPPED } from "./record.ts";

/** Outcomes of requests, in the terms of the log. */
export const OUTCOMES = ["ok", "failed", "4xx", "5xx", "stopped"] as const;

/** Which requests to return; every given member must match. */
export interface LogFilter {
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly outcome?: (typeof OUTCOMES)[number] | undefined;
  readonly errorCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly sinceMs?: number | undefined;
}

/** A key as the log shows it. */
export interface KeyNames {
  readonly name: string;
  /** The name of the account that owns the key. */
  readonly username: string;
  /** Until this time the messages of its requests are recorded. */
  readonly debugUntilMs: number | null;
}

/** A row of the log. */
export type LogRow = typeof usage.$inferSelect;

/** A page of the log, newest first. */
export interface LogRows {
  readonly rows: readonly LogRow[];
  /**
   * Older rows have smaller ids than this; null if there are none. A page may be short or empty without being the last.
   */
  readonly nextBeforeId: number | null;
}

/** The limit of rows that are read for one page: about twenty milliseconds. */
const SCAN_MAX = 20_000;
const PAGE_MAX = 1000;
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;

/** Builds the verbs. */
export function requestLog({ db }: Store) {
  return {
    /** The newest matching rows, older than the row `beforeId`. */
    async listLog(
      filter: LogFilter,
      { beforeId, limit = 50, scanMax = SCAN_MAX }: { beforeId?: number; limit?: number; scanMax?: number } = {},
    ): Promise<LogRows> {
      const most = Math.min(limit, PAGE_MAX);
      const range = and(selected(filter), beforeId === undefined ? undefined : lt(usage.id, beforeId));
      const near = db.select().from(usage).where(range).orderBy(desc(usage.id)).limit(scanMax).as("near");
      const found = await db
        .select()
        .from(near)
        .where(matches(filter, near as unknown as typeof usage))
        .orderBy(desc(near.id))
        .limit(most + 1)
        .all();
      const rows = found.slice(0, most);
      if (found.length > most) return { rows, nextBeforeId: rows.at(-1)?.id ?? null };
      const end = await db
        .select({ id: usage.id, createdAtMs: usage.createdAtMs })
        .from(usage)
        .where(range)
        .orderBy(desc(usage.id))
        .limit(1)
        .offset(scanMax - 1)
        .get();
      const isPast = end !== undefined && filter.sinceMs !== undefined && end.createdAtMs < filter.sinceMs - SLACK_MS;
      return { rows, nextBeforeId: end === undefined || isPast ? null : end.id };
    },

    /** Matching rows that were written after the row `afterId`, oldest first. */
    async followLog(filter: LogFilter, afterId: number, limit = 200): Promise<LogRow[]> {
      return db
        .select()
        .from(usage)
        .where(and(selected(filter), gt(usage.id, afterId), matches(filter, usage)))
        .orderBy(asc(usage.id))
        .limit(Math.min(limit, PAGE_MAX))
        .all();
    },

    /** One row; only the given account's, if one is given. */
    async findLogRow(id: number, accountId?: string): Promise<LogRow | undefined> {
      return db
        .select()
        .from(usage)
        .where(and(eq(usage.id, id), accountId === undefined ? undefined : eq(usage.accountId, accountId)))
        .get();
    },

    /** The row of an answer of an account, by the id that the client knows. */
    async findAnswer(accountId: string, answerId: string): Promise<LogRow | undefined> {
      return findAnswer(db, accountId, answerId);
    },

    /** The id of the last row; 0 if there is none. */
    async lastLogId(): Promise<number> {
      return (await db.select({ id: usage.id }).from(usage).orderBy(desc(usage.id)).limit(1).get())?.id ?? 0;
    },

    /** The names of these keys, and their accounts. */
    async namesOfKeys(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyNames>> {
      const rows = await db
        .select({ id: apiKeys.id, name: apiKeys.name, username: accounts.username, debugUntilMs: apiKeys.debugUntilMs })
        .from(apiKeys)
        .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
        .where(inArray(apiKeys.id, [...keyIds]))
        .all();
      return new Map(rows.map(({ id, ...names }) => [id, names]));
    },
  };
}

/**
 * Rows are written in batches when their requests end, so a row may be older than the one before it by up to this much.
 */
const SLACK_MS = 3_600_000;

/** Conditions that an index serves: an account's rows, or those with one request id. */
function selected({ accountId, requestId }: LogFilter): SQL | undefined {
  return and(
    accountId === undefined ? undefined : eq(usage.accountId, accountId),
    requestId === undefined ? undefined : eq(usage.requestId, requestId),
  );
}

/** The other conditions, checked row by row. */
function matches({ keyId, model, outcome, errorCode, sinceMs }: LogFilter, row: typeof usage): SQL | undefined {
  return and(
    keyId === undefined ? undefined : eq(row.keyId, keyId),
    model === undefined ? undefined : eq(row.model, model),
    errorCode === undefined ? undefined : eq(row.errorCode, errorCode),
    sinceMs === undefined ? undefined : gte(row.createdAtMs, sinceMs),
    outcome === undefined ? undefined : outcomeIs(outcome, row),
  );
}

function outcomeIs(outcome: (typeof OUTCOMES)[number], { status, errorCode }: typeof usage): SQL | undefined {
  const went = or(isNull(errorCode), ne(errorCode, STOPPED));
  switch (outcome) {
    case "ok":
      return and(isNull(errorCode), lt(status, CLIENT_ERROR));
    case "failed":
      return and(went, or(isNotNull(errorCode), gte(status, CLIENT_ERROR)));
    case "4xx":
      return and(went, gte(status, CLIENT_ERROR), lt(status, SERVER_ERROR));
    case "5xx":
      return and(went, gte(status, SERVER_ERROR));
    case "stopped":
      return eq(errorCode, STOPPED);
  }
}

async function findAnswer(db: Store["db"], accountId: string, answerId: string): Promise<LogRow | undefined> {
  for (const place of placesOf(answerId)) {
    const query = db
      .select()
      .from(usage)
      .where(and(place, eq(usage.accountId, accountId)));
    const row = await query.orderBy(desc(usage.id)).limit(1).get();
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Where the row of an answer may be: at its whole id, or at the id of its request. */
function placesOf(answerId: string): (SQL | undefined)[] {
  const named = namedByRequest(answerId);
  const whole = and(eq(usage.answerId, answerId), hasWholeAnswerId(usage.answerId));
  return named === undefined
    ? [whole]
    : [whole, and(eq(usage.requestId, named.requestId), eq(usage.answerId, named.prefix))];
}
