// The members of projects. A project always has an owner: the last one is never removed. A project belongs to one of its owners, and
// passes to the next when that account leaves.

import { and, asc, count, eq, isNotNull, ne, notInArray } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { accounts, apiKeys } from "../schema.ts";
import { requireStorable } from "../values.ts";
import { endProject, type ProjectRole, revokeProjectKeys } from "./projects.ts";
import { projectMembers, projects } from "./schema.ts";

/** A member in a listing. */
export interface ProjectMember {
  readonly accountId: string;
  readonly username: string;
  readonly email: string;
  readonly role: ProjectRole;
  /** The identity provider whose groups made the account a member; null: a person did. */
  readonly provider: string | null;
  readonly createdAtMs: number;
}

/** A project and the role in it that groups of an identity provider give. */
export interface GroupRole {
  readonly projectId: string;
  readonly role: Exclude<ProjectRole, "owner">;
}

/** What groups changed about one membership. */
export interface GroupRoleChange {
  readonly change: "added" | "changed" | "removed";
  readonly projectId: string;
  readonly name: string;
  /** The account to which the project belongs. */
  readonly ownerId: string;
  /** For a membership that ended: the role that it had. */
  readonly role: ProjectRole;
}

/** Members of one project. */
const MEMBERS_MAX = 1000;

/** Verbs over the members of projects. */
export type ProjectMemberStore = ReturnType<typeof projectMemberStore>;

/** Builds the verbs. */
export function projectMemberStore(store: Store) {
  return { ...readingMembers(store), ...changingMembers(store), ...groupMembers(store) };
}

const isMember = (projectId: string, accountId: string) =>
  and(eq(projectMembers.projectId, projectId), eq(projectMembers.accountId, accountId));

function readingMembers({ db }: Store) {
  return {
    /** The members of a project, in the order in which they joined. */
    async listMembers(projectId: string): Promise<ProjectMember[]> {
      return db
        .select({
          accountId: projectMembers.accountId,
          username: accounts.username,
          email: accounts.email,
          role: projectMembers.role,
          provider: projectMembers.provider,
          createdAtMs: projectMembers.createdAtMs,
        })
        .from(projectMembers)
        .innerJoin(accounts, eq(accounts.id, projectMembers.accountId))
        .where(eq(projectMembers.projectId, projectId))
        .orderBy(asc(projectMembers.createdAtMs), asc(byBytes(projectMembers.accountId)))
        .all();
    },

    /** The role of an account in a project; undefined if it is no member. */
    async findRole(projectId: string, accountId: string): Promise<ProjectRole | undefined> {
      const row = await db
        .select({ role: projectMembers.role })
        .from(projectMembers)
        .where(isMember(projectId, accountId))
        .get();
      return row?.role;
    },
  };
}

function changingMembers(store: Store) {
  const { db, clock } = store;
  return {
    /**
     * Makes an account a member of a project, or gives a member another role. From then on the membership is a person's word, which
     * groups of an identity provider do not end. Throws when the project or the account does not exist.
     */
    async setMember(
      projectId: string,
      accountId: string,
      role: ProjectRole,
    ): Promise<"added" | "changed" | "last_owner" | "too_many"> {
      return store.transaction(function* (): Work<"added" | "changed" | "last_owner" | "too_many"> {
        const which = isMember(projectId, accountId);
        const known = yield* step(() => db.select().from(projectMembers).where(which).get());
        if (known === undefined) {
          if ((yield* countMembers(store, projectId)) >= MEMBERS_MAX) return "too_many";
          const row = { projectId, accountId, role, provider: null, createdAtMs: clock.now() };
          yield* step(() => db.insert(projectMembers).values(row).run());
          return "added";
        }
        if (role !== "owner" && (yield* passOn(store, projectId, accountId)) === "last_owner") return "last_owner";
        yield* step(() => db.update(projectMembers).set({ role, provider: null }).where(which).run());
        return "changed";
      });
    },

    /** Removes a member and revokes its keys of the project. The last owner stays. */
    async removeMember(projectId: string, accountId: string): Promise<"removed" | "not_member" | "last_owner"> {
      return store.transaction(function* (): Work<"removed" | "not_member" | "last_owner"> {
        const which = isMember(projectId, accountId);
        if ((yield* step(() => db.select().from(projectMembers).where(which).get())) === undefined) return "not_member";
        if ((yield* passOn(store, projectId, accountId)) === "last_owner") return "last_owner";
        yield* leave(store, projectId, accountId);
        return "removed";
      });
    },
  };
}

function groupMembers(store: Store) {
  const { db, clock } = store;
  const change = { projectId: projects.id, name: projects.name, ownerId: projects.accountId };
  return {
    /**
     * Makes an account a member where the groups of an identity provider say so, and ends the memberships that they gave before.
     * What a person decided stays. Projects that do not exist are left out. Returns what changed.
     */
    async setGroupRoles(
      accountId: string,
      provider: string,
      roles: readonly GroupRole[],
    ): Promise<readonly GroupRoleChange[]> {
      requireStorable({ provider });
      return store.transaction(function* (): Work<readonly GroupRoleChange[]> {
        const changes: GroupRoleChange[] = [];
        const mine = and(eq(projectMembers.accountId, accountId), eq(projectMembers.provider, provider));
        const kept = roles.map(({ projectId }) => projectId);
        const ended = yield* step(() =>
          db
            .select({ ...change, role: projectMembers.role })
            .from(projectMembers)
            .innerJoin(projects, eq(projects.id, projectMembers.projectId))
            .where(kept.length === 0 ? mine : and(mine, notInArray(projectMembers.projectId, kept)))
            .all(),
        );
        for (const one of ended) {
          yield* leave(store, one.projectId, accountId);
          changes.push({ change: "removed", ...one });
        }
        for (const { projectId, role } of roles) {
          const project = yield* step(() => db.select(change).from(projects).where(eq(projects.id, projectId)).get());
          if (project === undefined) continue;
          const which = isMember(projectId, accountId);
          const known = yield* step(() => db.select().from(projectMembers).where(which).get());
          if (known === undefined) {
            if ((yield* countMembers(store, projectId)) >= MEMBERS_MAX) continue;
            const row = { projectId, accountId, role, provider, createdAtMs: clock.now() };
            yield* step(() => db.insert(projectMembers).values(row).run());
            changes.push({ change: "added", ...project, role });
          } else if (known.provider === provider && known.role !== role) {
            yield* step(() => db.update(projectMembers).set({ role }).where(which).run());
            changes.push({ change: "changed", ...project, role });
          }
        }
        return changes;
      });
    },
  };
}

function* countMembers({ db }: Store, projectId: string): Work<number> {
  const of = eq(projectMembers.projectId, projectId);
  return (yield* step(() => db.select({ n: count() }).from(projectMembers).where(of).get()))?.n ?? 0;
}

/**
 * Prepares that an account is no owner of a project any more: where the project belongs to it, it passes to the owner who joined first.
 * `last_owner`: there is no other.
 */
function* passOn({ db }: Store, projectId: string, accountId: string): Work<"passed" | "last_owner"> {
  const project = yield* step(() =>
    db.select({ accountId: projects.accountId }).from(projects).where(eq(projects.id, projectId)).get(),
  );
  if (project?.accountId !== accountId) return "passed";
  const heir = yield* step(() =>
    db
      .select({ accountId: projectMembers.accountId })
      .from(projectMembers)
      .where(
        and(
          eq(projectMembers.projectId, projectId),
          eq(projectMembers.role, "owner"),
          ne(projectMembers.accountId, accountId),
        ),
      )
      .orderBy(asc(projectMembers.createdAtMs), asc(byBytes(projectMembers.accountId)))
      .get(),
  );
  if (heir === undefined) return "last_owner";
  yield* step(() => db.update(projects).set(heir).where(eq(projects.id, projectId)).run());
  return "passed";
}

function* leave(store: Store, projectId: string, accountId: string): Work<void> {
  yield* revokeProjectKeys(store, and(eq(apiKeys.projectId, projectId), eq(apiKeys.accountId, accountId)));
  yield* step(() => store.db.delete(projectMembers).where(isMember(projectId, accountId)).run());
}

/** Ends every membership that groups of an identity provider gave to an account, within the caller's transaction. */
export function* endGroupRoles(store: Store, accountId: string): Work<void> {
  const given = and(eq(projectMembers.accountId, accountId), isNotNull(projectMembers.provider));
  const ended = yield* step(() =>
    store.db.select({ projectId: projectMembers.projectId }).from(projectMembers).where(given).all(),
  );
  for (const { projectId } of ended) yield* leave(store, projectId, accountId);
}

/**
 * Takes an account that is about to be deleted out of its projects, within its transaction: they pass to other owners. Where there is
 * none the project ends, with the keys of all its members.
 */
export function* leaveAllProjects(store: Store, accountId: string): Work<void> {
  const { db } = store;
  const own = yield* step(() =>
    db.select({ id: projects.id }).from(projects).where(eq(projects.accountId, accountId)).all(),
  );
  for (const { id } of own) if ((yield* passOn(store, id, accountId)) === "last_owner") yield* endProject(store, id);
}
