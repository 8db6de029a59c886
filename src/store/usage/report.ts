// The sums of reports: of a span by slot, model, key, project or tag, within what one caller may see; and what providers bill.

import { and, asc, desc, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { usageClasses, usageDaily, usageHourly, usageLabels } from "../schema.ts";
import type { SlotSpan } from "./overview.ts";
import type { ClassSums } from "./parts.ts";
import type { UsageSums } from "./record.ts";
import { sumsInSlices } from "./slices.ts";

/** What a report is grouped by, besides time. */
export const GROUPS = ["model", "key", "project", "tag"] as const;
export type ReportGroup = (typeof GROUPS)[number];

/** Whose usage a report is about; neither member: everybody's. */
export interface ReportScope {
  readonly accountId?: string | undefined;
  /** A project, of whichever accounts its keys are. */
  readonly projectId?: string | undefined;
}

/** What a report asks for. */
export interface ReportQuery extends ReportScope {
  readonly span: SlotSpan;
  /** Undefined: the slots alone. */
  readonly by?: ReportGroup | undefined;
  /** Whether there are sums for each slot, or for the span as a whole. */
  readonly perSlot: boolean;
  readonly model?: string | undefined;
  /** The usage of these keys alone. */
  readonly keyIds?: readonly string[] | undefined;
  readonly limit: number;
}

/** Sums of one group. */
export type ReportSums = UsageSums & {
  /** The first hour or day of the slot; of the span if sums are not for each slot. */
  readonly start: number;
  /** The model, the id of the key or of the project, or the tag; "" without a group. */
  readonly name: string;
};

type TextColumn = typeof usageDaily.model;

const SUM_NAMES = [
  "requests",
  "errors",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "costMicros",
  "unpriced",
] as const satisfies readonly (keyof UsageSums)[];

/** Builds the verbs. */
export function usageReport(store: Store) {
  const { db } = store;
  return {
    /**
     * Sums by slot and group, the earliest first. Requests without a project or without tags are in no group of these. A request with
     * several tags is in the sums of each.
     */
    async sumsBy(query: ReportQuery): Promise<ReportSums[]> {
      const { table, start, keys, unit, where, name } = sourceOf(
        query.projectId === undefined ? query : { ...query, span: await usedPart(db, query.span) },
      );
      const sums = Object.fromEntries(
        SUM_NAMES.map((column) => [column, sql<number>`SUM(${table[column]})`.mapWith(Number)]),
      ) as { [Name in (typeof SUM_NAMES)[number]]: SQL<number> };
      const { perSlot, span, limit } = query;
      const groups = [...(perSlot ? [start] : []), ...(name === undefined ? [] : [name])];
      const order = [...(perSlot ? [asc(start)] : []), ...(name === undefined ? [] : [asc(byBytes(name))])];
      const read = async (part: SQL | undefined, limit: number | undefined): Promise<ReportSums[]> => {
        const rows = db
          .select({
            start: perSlot ? start : sql<number>`${span.from}`.mapWith(Number),
            name: name === undefined ? sql<string>`''` : name,
            ...sums,
          })
          .from(table)
          .where(and(part, where));
        const grouped = groups.length === 0 ? rows : rows.groupBy(...groups).orderBy(...order);
        return (await (limit === undefined ? grouped : grouped.limit(limit)).all()).filter(
          ({ requests }) => requests !== null,
        );
      };
      const isOfAll = query.accountId === undefined && query.projectId === undefined;
      const found = isOfAll
        ? await sumsInSlices(store, { table, keys, ofUnit: unit, ...span, read, groups: ["start", "name"], limit })
        : await read(query.projectId === undefined ? and(unit, slotsIn(start, span)) : unit, limit);
      // Without a group there is a row even if nothing was used.
      return found.filter(({ requests, inputTokens, costMicros }) => requests + inputTokens + costMicros > 0);
    },

    /** What providers bill in a span of days, by provider, model, service tier and class. */
    async classesOf({ fromDay, toDay }: { readonly fromDay: number; readonly toDay: number }): Promise<ClassSums[]> {
      const { provider, model, service, class: name } = usageClasses;
      const sum = (column: (typeof usageClasses)["amount" | "unpriced" | "costMicros"]) =>
        sql<number>`SUM(${column})`.mapWith(Number);
      return db
        .select({
          ...{ provider, model, service, class: name },
          amount: sum(usageClasses.amount),
          unpriced: sum(usageClasses.unpriced),
          costMicros: sum(usageClasses.costMicros),
        })
        .from(usageClasses)
        .where(and(gte(usageClasses.day, fromDay), lt(usageClasses.day, toDay + 1)))
        .groupBy(provider, model, service, name)
        .orderBy(asc(byBytes(provider)), asc(byBytes(model)), asc(byBytes(service)), asc(byBytes(name)))
        .all();
    },
  };
}

/** The table of a report, and which of its rows are meant. */
function sourceOf({ span, by, accountId, projectId, model, keyIds }: ReportQuery) {
  const of = (table: typeof usageDaily | typeof usageHourly | typeof usageLabels) =>
    and(
      accountId === undefined ? undefined : eq(table.accountId, accountId),
      model === undefined ? undefined : eq(table.model, model),
      keyIds === undefined ? undefined : inArray(table.keyId, [...keyIds]),
    );
  if (by === "project" || by === "tag" || projectId !== undefined) {
    const table = usageLabels;
    const kind = by === "tag" ? "tag" : "project";
    const unit = eq(table.unit, span.unit);
    return {
      table: table as unknown as typeof usageDaily,
      start: table.start as unknown as typeof usageDaily.day,
      keys: [table.start, table.kind, table.name, table.accountId, table.keyId, table.model],
      unit,
      where: and(projectId === undefined ? eq(table.kind, kind) : rowsOfProject(kind, projectId, span), of(table)),
      name: nameIn(by, table, table.name),
    };
  }
  const table = (span.unit === "hour" ? usageHourly : usageDaily) as typeof usageDaily;
  const start = (span.unit === "hour" ? usageHourly.hour : usageDaily.day) as typeof usageDaily.day;
  const keys = [start, table.accountId, table.keyId, table.model];
  return { table, start, keys, unit: undefined, where: of(table), name: nameIn(by, table, table.model) };
}

const slotsIn = (start: SQLiteColumn, { from, to }: SlotSpan) =>
  and(sql`${start} >= ${from}`, sql`${start} < ${to + 1}`);

/** The column by which sums are grouped. All of them are texts. */
function nameIn(
  by: ReportGroup | undefined,
  { model, keyId }: { readonly model: SQLiteColumn; readonly keyId: SQLiteColumn },
  label: SQLiteColumn,
): TextColumn | undefined {
  if (by === undefined) return undefined;
  return (by === "model" ? model : by === "key" ? keyId : label) as TextColumn;
}

/** The part of a span from the first slot with sums of labels to the last one. */
async function usedPart(db: Store["db"], { unit, from, to }: SlotSpan): Promise<SlotSpan> {
  const slots = db.select({ start: usageLabels.start }).from(usageLabels).where(eq(usageLabels.unit, unit));
  const first = await slots.orderBy(asc(usageLabels.start)).limit(1).get();
  const last = await slots.orderBy(desc(usageLabels.start)).limit(1).get();
  return { unit, from: Math.max(from, first?.start ?? from), to: Math.min(to, last?.start ?? from) };
}

/**
 * The rows of a project: they are looked up slot by slot, so that those of all others are not read. Sums of tags do not name the
 * project, so those are meant of which the same key has sums of the project in the same slot: what a key used before it came to the
 * project is none of the project's.
 */
function rowsOfProject(kind: "project" | "tag", projectId: string, { unit, from, to }: SlotSpan): SQL {
  const { start, accountId, keyId, model } = usageLabels;
  const slots = sql`(WITH RECURSIVE slots (slot) AS (
    SELECT CAST(${from} AS BIGINT) WHERE CAST(${from} AS BIGINT) <= CAST(${to} AS BIGINT)
    UNION ALL SELECT slot + 1 FROM slots WHERE slot < CAST(${to} AS BIGINT)
  ) SELECT slot FROM slots)`;
  if (kind === "project") {
    return sql`${usageLabels.kind} = 'project' AND ${usageLabels.name} = ${projectId} AND ${start} IN ${slots}`;
  }
  // The index by account is meant, which does not hold the kind; with the kind alone the tags of all accounts would be read.
  return sql`${usageLabels.kind} || '' = 'tag' AND (${accountId}, ${start}, ${keyId}, ${model}) IN (
    SELECT p.account_id, p.start, p.key_id, p.model FROM usage_labels AS p
    WHERE p.unit = ${unit} AND p.kind = 'project' AND p.name = ${projectId} AND p.start IN ${slots})`;
}
