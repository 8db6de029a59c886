// Runs of agents. A request enters the open run of its name, or begins one; a limit of requests is checked in the statement that
// counts, so that it is exact however many enter at once.

import { and, asc, desc, eq, inArray, lt, ne, type SQL, sql } from "drizzle-orm";
import { prefixedId } from "../../base/ids.ts";
import { storable } from "../../base/storable.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step } from "../engine/store.ts";
import { apiKeys, usage } from "../schema.ts";
import type { LogRow } from "../usage/log.ts";
import { agentRuns, type RunLimit } from "./schema.ts";

/** A run as it is stored. */
export type AgentRun = typeof agentRuns.$inferSelect;

/** A request that belongs to a run. */
export interface RunEntry {
  readonly accountId: string;
  readonly keyId: string;
  readonly name: string;
  /** A run ends when it has had no request for `idleMs`, or is older than `ageMs`. */
  readonly idleMs: number;
  readonly ageMs: number;
  /** How many requests the run may have; 0: any number. */
  readonly requestsMax: number;
  /** Whether the request is counted against a limit. */
  readonly isCounted: boolean;
}

/** A limit that was reached. */
export interface RunStop {
  readonly limit: RunLimit;
  /** The limit, and what was reached of it: micro-dollars, or a number. */
  readonly most: number;
  readonly spent: number;
}

/** Verbs over runs. */
export type RunStore = ReturnType<typeof runStore>;

/** More than any run has. */
const NO_LIMIT = 2 ** 50;
/** A client may write anything as the name of its run. */
const NAME_CHARS = 250;
const DROPPED_MAX = 50;
const PAGE_MAX = 100;
const CALLS_MAX = 1000;
const DELETE_BATCH = 500;

/** Builds the verbs. */
export function runStore(store: Store) {
  return { ...enteringRuns(store), ...readingRuns(store), ...stoppingRuns(store), ...deletingRuns(store) };
}

function enteringRuns(store: Store) {
  const { db, clock } = store;
  const enter = store.statement<{ id: string }>(
    `UPDATE agent_runs SET admitted = admitted + $count, last_at = $now, stopped = NULL
     WHERE account_id = $account AND open_name = $name AND last_at > $idleSince AND started_at > $bornSince
       AND admitted < $most + allowed_requests RETURNING id`,
  );
  const end = store.statement(
    `UPDATE agent_runs SET open_name = NULL
     WHERE account_id = $account AND open_name = $name AND (last_at <= $idleSince OR started_at <= $bornSince)`,
  );
  // Nothing begins for an account that was deleted meanwhile.
  const begin = store.statement(
    `INSERT INTO agent_runs (id, account_id, key_id, name, open_name, started_at, last_at)
     SELECT $id, id, $key, $name, $name, $now, $now FROM accounts WHERE id = $account
     ON CONFLICT (account_id, open_name) DO NOTHING`,
  );
  const openRun = (accountId: string, name: string) =>
    db
      .select()
      .from(agentRuns)
      .where(and(eq(agentRuns.accountId, accountId), eq(agentRuns.openName, name)))
      .get();
  return {
    /** Enters the open run of a name, or begins one. Undefined if the account no longer exists. */
    async enterRun(entry: RunEntry): Promise<{ run: AgentRun; isAdmitted: boolean } | undefined> {
      const now = clock.now();
      const account = entry.accountId;
      const name = storable(entry.name).slice(0, NAME_CHARS).toWellFormed();
      const ends = { account, name, idleSince: now - entry.idleMs, bornSince: now - entry.ageMs };
      const most = entry.requestsMax === 0 ? NO_LIMIT : entry.requestsMax;
      const entering = { ...ends, now, most, count: entry.isCounted ? 1 : 0 };
      let entered = await enter.get(entering);
      if (entered === null) {
        const beginning = { account, name, now, id: prefixedId("run_"), key: entry.keyId };
        entered = await store.transaction(
          function* () {
            yield* step(() => end.run(ends));
            yield* step(() => begin.run(beginning));
            return yield* step(() => enter.get(entering));
          },
          { sees: "row" },
        );
      }
      const run = await openRun(account, name);
      return run === undefined ? undefined : { run, isAdmitted: entered !== null };
    },
  };
}

/** How often a run was answered on one route, and what that cost. */
export interface RunRoute {
  readonly provider: string;
  readonly model: string;
  readonly calls: number;
  readonly costMicros: number;
}

/** Which runs of an account are meant. */
export interface RunFilter {
  /** The project whose keys have begun them; undefined: all runs of the account. */
  readonly projectId?: string | undefined;
}

function readingRuns({ db }: Store) {
  const begunIn = (projectId: string | undefined) =>
    projectId === undefined
      ? undefined
      : inArray(agentRuns.keyId, db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.projectId, projectId)));
  const page = (where: SQL | undefined, limit: number) =>
    db
      .select()
      .from(agentRuns)
      .where(where)
      .orderBy(desc(byBytes(agentRuns.id)))
      .limit(Math.min(limit, PAGE_MAX))
      .all();
  return {
    /** A run of an account; with `projectId`, only one that a key of the project has begun. */
    async findRun(accountId: string, id: string, { projectId }: RunFilter = {}): Promise<AgentRun | undefined> {
      return db
        .select()
        .from(agentRuns)
        .where(and(owned(accountId, id), begunIn(projectId)))
        .get();
    },

    /** The runs of an account, those that began last first; those that began before the run `before`. */
    async listRuns(
      accountId: string,
      { before, limit = 50, projectId }: RunFilter & { before?: string | undefined; limit?: number } = {},
    ) {
      const own = and(eq(agentRuns.accountId, accountId), begunIn(projectId));
      return page(before === undefined ? own : and(own, lt(byBytes(agentRuns.id), before)), limit);
    },

    /** The routes on which runs were answered, by the ids of the runs. */
    async routesOfRuns(ids: readonly string[]): Promise<ReadonlyMap<string, readonly RunRoute[]>> {
      const routes = new Map<string, RunRoute[]>();
      if (ids.length === 0) return routes;
      const rows = await db
        .select({
          runId: usage.runId,
          provider: usage.provider,
          model: usage.upstreamModel,
          calls: sql<number>`COUNT(*)`,
          costMicros: sql<number>`SUM(${usage.costMicros})`,
        })
        .from(usage)
        .where(and(inArray(usage.runId, [...ids]), ne(usage.provider, "")))
        .groupBy(usage.runId, usage.provider, usage.upstreamModel)
        .orderBy(asc(byBytes(usage.provider)), asc(byBytes(usage.upstreamModel)))
        .all();
      for (const { runId, provider, model, calls, costMicros } of rows) {
        const own = routes.get(runId ?? "") ?? [];
        own.push({ provider, model, calls: Number(calls), costMicros: Number(costMicros) });
        routes.set(runId ?? "", own);
      }
      return routes;
    },

    /** The usage rows of a run, from its beginning. */
    async listRunCalls(id: string, limit = CALLS_MAX): Promise<LogRow[]> {
      const most = Math.min(limit, CALLS_MAX);
      return db.select().from(usage).where(eq(usage.runId, id)).orderBy(asc(usage.id)).limit(most).all();
    },
  };
}

function stoppingRuns(store: Store) {
  const { db } = store;
  const allow = store.statement(
    `UPDATE agent_runs SET stopped = NULL,
       allowed_micros = allowed_micros + CASE WHEN stopped = 'usd' AND $asIs THEN stopped_limit ELSE $micros END,
       allowed_requests = allowed_requests + CASE WHEN stopped = 'requests' AND $asIs THEN stopped_limit ELSE $requests END,
       allowed_repeats = allowed_repeats + CASE WHEN stopped = 'repeats' THEN stopped_spent ELSE 0 END
     WHERE account_id = $account AND id = $id`,
  );
  return {
    /** Notes the limit for which a request was refused. */
    async noteRunStop(id: string, { limit, most, spent }: RunStop): Promise<void> {
      await db
        .update(agentRuns)
        .set({ stopped: limit, stoppedLimit: most, stoppedSpent: spent })
        .where(eq(agentRuns.id, id))
        .run();
    },

    /**
     * Lets a run go on by these amounts; without any, by as much as the limit that it has reached. A run that repeated itself may do
     * so as often again. Undefined if the account has no such run.
     */
    async allowRun(
      accountId: string,
      id: string,
      more: { micros?: number | undefined; requests?: number | undefined },
    ) {
      const { micros = 0, requests = 0 } = more;
      const asIs = micros === 0 && requests === 0;
      await allow.run({ account: accountId, id, micros, requests, asIs });
      return db.select().from(agentRuns).where(owned(accountId, id)).get();
    },

    /** Notes what was dropped from a request: items of reasoning, and names of other things. */
    async noteRunDropped(id: string, { reasoning, names }: { reasoning: number; names: readonly string[] }) {
      await store.transaction(function* () {
        const row = yield* step(() =>
          db
            .select({ count: agentRuns.droppedReasoning, dropped: agentRuns.dropped })
            .from(agentRuns)
            .where(eq(agentRuns.id, id))
            .get(),
        );
        if (row === undefined) return;
        const dropped = [...new Set([...(row.dropped ?? []), ...names.map(storable)])].slice(0, DROPPED_MAX);
        const set = { droppedReasoning: row.count + reasoning, dropped: dropped.length === 0 ? null : dropped };
        yield* step(() => db.update(agentRuns).set(set).where(eq(agentRuns.id, id)).run());
      });
    },
  };
}

function deletingRuns({ statement }: Store) {
  const remove = statement(
    `DELETE FROM agent_runs WHERE id IN
       (SELECT id FROM agent_runs WHERE started_at <= $before AND last_at <= $before LIMIT $batch)`,
  );
  return {
    /** Deletes a batch of the runs without a request since then; returns how many, 0 when none is left. */
    async deleteRunsBefore(beforeMs: number): Promise<number> {
      return (await remove.run({ before: beforeMs, batch: DELETE_BATCH })).changes;
    },
  };
}

function owned(accountId: string, id: string) {
  return and(eq(agentRuns.id, id), eq(agentRuns.accountId, accountId));
}
