// Projects: groups of keys with limits of their own, of which several accounts are members. What the keys of a project spend is
// counted here (usage/sql.ts), beside what each key and each account has spent.

import { and, asc, count, eq, gt, gte, inArray, isNull, type SQL, sql, sum } from "drizzle-orm";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts, apiKeys, usageLabels } from "../schema.ts";
import type { SpendingWindow } from "../usage/spending.ts";
import { requireStorable } from "../values.ts";
import { projectMembers, projects } from "./schema.ts";

/** What a member may do: a member makes own keys, a manager sets limits and members too, an owner may do everything. */
export type ProjectRole = (typeof PROJECT_ROLES)[number];
/** The roles, from the one that may do most. */
export const PROJECT_ROLES = ["owner", "manager", "member"] as const;

/** A project as stored. */
export type Project = typeof projects.$inferSelect;

/** What its owners and managers set. Limits are of all its keys together; null: none. */
export interface ProjectSettings {
  readonly name: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
  /** Patterns of the models that its keys may use; null: all models. */
  readonly models: readonly string[] | null;
  readonly budgetMicros: number | null;
  /** Length of a budget window; null: the budget never refills. */
  readonly budgetPeriodMs: number | null;
  /** Limits of each run of an agent; null: those of the plan. */
  readonly runMicros: number | null;
  readonly runRequests: number | null;
  readonly runRepeats: number | null;
}

/** A project in the listing of one of its members. */
export interface OwnProject extends Project {
  readonly role: ProjectRole;
}

/** How many members and unrevoked keys a project has. */
export interface ProjectSize {
  readonly members: number;
  readonly keys: number;
}

/** Projects that belong to one account. */
export const PROJECTS_MAX = 100;
const PAGE_MAX = 500;

/** Verbs over projects. */
export type ProjectStore = ReturnType<typeof projectStore>;

/** Builds the verbs. */
export function projectStore(store: Store) {
  return {
    ...findingProjects(store),
    ...listingProjects(store),
    ...readingContents(store),
    ...changingProjects(store),
  };
}

function findingProjects({ db }: Store) {
  const byId = lazily(() =>
    db
      .select()
      .from(projects)
      .where(eq(projects.id, sql.placeholder("id")))
      .prepare(),
  );
  return {
    /** The project with this id. */
    async findProject(id: string): Promise<Project | undefined> {
      return byId().get({ id });
    },

    /** A project's budget and what was spent of it according to the usage written so far; undefined if it has none. */
    async findProjectBudget(id: string): Promise<SpendingWindow | undefined> {
      const row = await byId().get({ id });
      if (row === undefined || row.budgetMicros === null) return undefined;
      const { budgetMicros: limitMicros, budgetPeriodMs: periodMs, budgetWindowStartMs: windowStartMs } = row;
      return { limitMicros, periodMs, windowStartMs, spentMicros: row.spentMicros };
    },
  };
}

function listingProjects({ db }: Store) {
  const counted = (rows: readonly { id: string | null; n: number }[]) => new Map(rows.map(({ id, n }) => [id, n]));
  return {
    /** The projects of which an account is a member, the oldest first. */
    async listOwnProjects(accountId: string): Promise<OwnProject[]> {
      const rows = await db
        .select({ project: projects, role: projectMembers.role })
        .from(projectMembers)
        .innerJoin(projects, eq(projects.id, projectMembers.projectId))
        .where(eq(projectMembers.accountId, accountId))
        .orderBy(asc(byBytes(projects.id)))
        .all();
      return rows.map(({ project, role }) => ({ ...project, role }));
    },

    /** Up to `limit` (at most 500) projects of all accounts in the order of creation, after the project `afterId`. */
    async listProjects(options: { afterId?: string; limit?: number } = {}): Promise<Project[]> {
      // Ids sort by creation time.
      return db
        .select()
        .from(projects)
        .where(gt(byBytes(projects.id), options.afterId ?? ""))
        .orderBy(asc(byBytes(projects.id)))
        .limit(Math.min(options.limit ?? PAGE_MAX, PAGE_MAX))
        .all();
    },

    /** The sizes of these projects. */
    async projectSizes(ids: readonly string[]): Promise<ReadonlyMap<string, ProjectSize>> {
      const members = counted(
        await db
          .select({ id: projectMembers.projectId, n: count() })
          .from(projectMembers)
          .where(inArray(projectMembers.projectId, [...ids]))
          .groupBy(projectMembers.projectId)
          .all(),
      );
      const keys = counted(
        await db
          .select({ id: apiKeys.projectId, n: count() })
          .from(apiKeys)
          .where(and(inArray(apiKeys.projectId, [...ids]), isNull(apiKeys.revokedAtMs)))
          .groupBy(apiKeys.projectId)
          .all(),
      );
      return new Map(ids.map((id) => [id, { members: members.get(id) ?? 0, keys: keys.get(id) ?? 0 }]));
    },
  };
}

function readingContents({ db }: Store) {
  return {
    /** The keys of a project that are not revoked, with the names of their accounts, the oldest first. */
    async listProjectKeys(id: string) {
      return db
        .select({
          id: apiKeys.id,
          accountId: apiKeys.accountId,
          username: accounts.username,
          name: apiKeys.name,
          prefix: apiKeys.prefix,
          lastFour: apiKeys.lastFour,
          spentMicros: apiKeys.spentMicros,
          lastUsedAtMs: apiKeys.lastUsedAtMs,
          createdAtMs: apiKeys.createdAtMs,
        })
        .from(apiKeys)
        .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
        .where(and(eq(apiKeys.projectId, id), isNull(apiKeys.revokedAtMs)))
        .orderBy(asc(byBytes(apiKeys.id)))
        .all();
    },

    /** The requests of a project and their cost on each day since `fromDay`, in whole days since the epoch; days without any are left out. */
    async sumsByProjectDay(id: string, fromDay: number) {
      const { start, requests, costMicros } = usageLabels;
      const rows = await db
        .select({ day: start, requests: sum(requests), costMicros: sum(costMicros) })
        .from(usageLabels)
        .where(
          and(
            eq(usageLabels.unit, "day"),
            gte(start, fromDay),
            eq(usageLabels.kind, "project"),
            eq(usageLabels.name, id),
          ),
        )
        .groupBy(start)
        .orderBy(asc(start))
        .all();
      return rows.map(({ day, ...sums }) => ({
        ...{ day, requests: Number(sums.requests), costMicros: Number(sums.costMicros) },
      }));
    },
  };
}

function changingProjects(store: Store) {
  const { db, clock } = store;
  return {
    /**
     * Creates a project of an account, which becomes its owner; `too_many` if the account has as many as it may. Throws when the
     * account does not exist.
     */
    async createProject(
      accountId: string,
      { name, ...limits }: Pick<ProjectSettings, "name"> & Partial<ProjectSettings>,
    ): Promise<Project | "too_many"> {
      requireStorable({ name });
      return store.transaction(function* (): Work<Project | "too_many"> {
        const ofAccount = () => db.select({ n: count() }).from(projects).where(eq(projects.accountId, accountId)).get();
        if (((yield* step(ofAccount))?.n ?? 0) >= PROJECTS_MAX) return "too_many";
        const nowMs = clock.now();
        const made: Project = {
          ...{ rpm: null, tpm: null, parallel: null, models: null, budgetMicros: null, budgetPeriodMs: null },
          ...{ runMicros: null, runRequests: null, runRepeats: null },
          ...limits,
          ...{ id: uuid(), accountId, name, spentMicros: 0, createdAtMs: nowMs },
          budgetWindowStartMs: limits.budgetMicros == null ? null : nowMs,
        };
        yield* step(() => db.insert(projects).values(made).run());
        const owner = { projectId: made.id, accountId, role: "owner" as const, createdAtMs: nowMs };
        yield* step(() => db.insert(projectMembers).values(owner).run());
        return made;
      });
    },

    /**
     * Changes what is given; undefined if there is no such project. The spent amount stays; a first budget, or one with another
     * period, begins now.
     */
    async updateProject(id: string, change: Partial<ProjectSettings>): Promise<Project | undefined> {
      if (change.name !== undefined) requireStorable({ name: change.name });
      return store.transaction(function* (): Work<Project | undefined> {
        const found = yield* step(() => db.select().from(projects).where(eq(projects.id, id)).get());
        if (found === undefined) return undefined;
        const set = { ...change, ...windowAfter(found, change, clock.now()) };
        if (Object.keys(set).length === 0) return found;
        return yield* step(() => db.update(projects).set(set).where(eq(projects.id, id)).returning().get());
      });
    },

    /** Deletes a project and revokes its keys. False if there is no such project. */
    async deleteProject(id: string): Promise<boolean> {
      return store.transaction(() => endProject(store, id));
    },
  };
}

/** The columns of a project's budget window that a change of its settings changes. */
function windowAfter(
  found: Project,
  { budgetMicros = found.budgetMicros, budgetPeriodMs = found.budgetPeriodMs }: Partial<ProjectSettings>,
  nowMs: number,
): Partial<Project> {
  if (budgetMicros === null) return { budgetPeriodMs: null, budgetWindowStartMs: null };
  if (found.budgetWindowStartMs !== null && budgetPeriodMs === found.budgetPeriodMs) return {};
  return { budgetWindowStartMs: nowMs, spentMicros: 0 };
}

/** Deletes a project within a transaction, and revokes its keys: without its limits they must not go on. */
export function* endProject({ db, clock }: Store, id: string): Work<boolean> {
  yield* revokeProjectKeys({ db, clock }, eq(apiKeys.projectId, id));
  const gone = yield* step(() => db.delete(projects).where(eq(projects.id, id)).returning({ id: projects.id }).all());
  return gone.length > 0;
}

/** Revokes those of these keys that are not revoked yet, within a transaction. */
export function* revokeProjectKeys({ db, clock }: Pick<Store, "db" | "clock">, which: SQL | undefined): Work<void> {
  yield* step(() =>
    db
      .update(apiKeys)
      .set({ revokedAtMs: clock.now() })
      .where(and(which, isNull(apiKeys.revokedAtMs)))
      .run(),
  );
}
