// What members do with their projects, in the dashboard and through the API alike. Each change is written to the audit log of whoever
// made it, of the account to which the project belongs, and of the member whom it concerns.

import { ApiError } from "../../base/errors.ts";
import type { AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { ProjectMemberStore } from "../../store/access/project-members.ts";
import { PROJECTS_MAX, type Project, type ProjectRole, type ProjectStore } from "../../store/access/projects.ts";
import type { UsageWriter } from "../../store/usage/writer.ts";
import { type ProjectAction, type ProjectActor, projectNotFound, requireRole } from "./actor.ts";
import { projectNameOf, type ReadModels, roleOf, settingsOf } from "./fields.ts";
import { memberView, type ProjectMemberView, type ProjectView, projectView } from "./view.ts";

/** What projects need. */
export interface ProjectsDeps {
  readonly accounts: Pick<AccountStore, "findAccountByEmail">;
  readonly audit: Pick<AuditStore, "addAudit">;
  projects(): ProjectStore;
  members(): ProjectMemberStore;
  readonly writer: Pick<UsageWriter, "pendingCostMicros" | "readBetweenWrites">;
  readonly clock: { now(): number };
  readonly readModels: ReadModels;
  /** Drops cached copies of keys and their limits. */
  keysChanged(): void;
}

type Body = Readonly<Record<string, unknown>>;

/** Creates the projects that one actor may see and change. */
export function createProjects(deps: ProjectsDeps) {
  const access = createAccess(deps);
  return { ...seeingProjects(deps, access), ...changingProjects(deps, access), ...changingMembers(deps, access) };
}

/** A project and the actor's role in it. */
interface Found {
  readonly project: Project;
  readonly role: ProjectRole;
}

type Access = ReturnType<typeof createAccess>;

function createAccess({ projects, members, audit, keysChanged }: ProjectsDeps) {
  const found = async (actor: ProjectActor, id: string): Promise<Found> => {
    if (actor.scope === "project" && actor.projectId !== id) throw projectNotFound();
    const [project, role] = await Promise.all([
      projects().findProject(id),
      actor.scope === "all" ? ("owner" as const) : members().findRole(id, actor.accountId),
    ]);
    if (project === undefined || role === undefined) throw projectNotFound();
    return { project, role };
  };
  return {
    found,
    /** The project, if the actor's role allows the action. Throws 403 and 404. */
    async allowed(actor: ProjectActor, id: string, [action, what]: readonly [ProjectAction, string]): Promise<Found> {
      const one = await found(actor, id);
      requireRole(one.role, action, what);
      return one;
    },
    /** Writes down a change that was made. `memberId`: the account of the member whom it concerns. */
    async changed(
      actor: ProjectActor,
      event: string,
      project: Project,
      { memberId = actor.accountId, ...detail }: Body & { readonly memberId?: string } = {},
    ): Promise<void> {
      keysChanged();
      const by = actor.keyId === undefined ? {} : { key_id: actor.keyId };
      const entry = {
        event,
        ...actor.client,
        detail: { project_id: project.id, name: project.name, ...by, ...detail },
      };
      for (const accountId of new Set([actor.accountId, project.accountId, memberId]))
        await audit.addAudit({
          ...entry,
          accountId,
          detail: accountId === actor.accountId ? entry.detail : { ...entry.detail, by: actor.accountId },
        });
    },
  };
}

function seeingProjects({ projects, members, writer, clock }: ProjectsDeps, access: Access) {
  const shown = (all: readonly Found[]): Promise<ProjectView[]> =>
    writer.readBetweenWrites(async () => {
      const sizes = await projects().projectSizes(all.map(({ project }) => project.id));
      return all.map(({ project, role }) =>
        projectView(project, {
          role,
          size: sizes.get(project.id) ?? { members: 0, keys: 0 },
          pendingMicros: writer.pendingCostMicros(project.id),
          nowMs: clock.now(),
        }),
      );
    });
  const show = async (found: Found): Promise<ProjectView> => {
    const [view] = await shown([found]);
    if (view === undefined) throw projectNotFound();
    return view;
  };
  return {
    show,
    /** The actor's projects, the oldest first. `after`: the last of the page before, where there may be many. */
    async list(actor: ProjectActor, after = ""): Promise<ProjectView[]> {
      if (actor.scope === "all") {
        const page = await projects().listProjects({ afterId: after });
        return shown(page.map((project) => ({ project, role: "owner" })));
      }
      const own = await projects().listOwnProjects(actor.accountId);
      const mine = own.filter(({ id }) => actor.scope === "account" || id === actor.projectId);
      return shown(mine.map(({ role, ...project }) => ({ project, role })));
    },

    /** One project. */
    async find(actor: ProjectActor, id: string): Promise<ProjectView> {
      return show(await access.found(actor, id));
    },

    /** Its members. */
    async members(actor: ProjectActor, id: string): Promise<ProjectMemberView[]> {
      await access.found(actor, id);
      return (await members().listMembers(id)).map(memberView);
    },
  };
}

function changingProjects({ projects, ...deps }: ProjectsDeps, access: Access) {
  const { show } = seeingProjects({ projects, ...deps }, access);
  return {
    /** Creates a project of the actor's account. */
    async create(actor: ProjectActor, body: Body): Promise<ProjectView> {
      if (actor.scope === "project")
        throw new ApiError("project_role_required", "This management key is of one project, and creates no others.");
      const made = await projects().createProject(actor.accountId, {
        ...settingsOf(body, deps.readModels),
        name: projectNameOf(body),
      });
      if (made === "too_many")
        throw new ApiError("invalid_request", `An account has at most ${PROJECTS_MAX} projects. Delete some first.`);
      await access.changed(actor, "project_created", made);
      return show({ project: made, role: "owner" });
    },

    /** Changes the name and the limits that the body has. */
    async change(actor: ProjectActor, id: string, body: Body): Promise<ProjectView> {
      const { project, role } = await access.allowed(actor, id, ["manage", "change its name or limits"]);
      const settings = settingsOf(body, deps.readModels, project);
      const changed = await projects().updateProject(id, settings);
      if (changed === undefined) throw projectNotFound();
      await access.changed(actor, "project_changed", changed, { changes: settings });
      return show({ project: changed, role });
    },

    /** Deletes a project and revokes its keys. */
    async remove(actor: ProjectActor, id: string): Promise<void> {
      const { project } = await access.allowed(actor, id, ["own", "delete it"]);
      if (!(await projects().deleteProject(id))) throw projectNotFound();
      await access.changed(actor, "project_deleted", project);
    },
  };
}

function changingMembers({ accounts, members }: ProjectsDeps, access: Access) {
  const lastOwner = () =>
    new ApiError("project_last_owner", "A project keeps one owner: make another member an owner first.");
  /** A member by its address, and the role that it has. Only owners decide about owners. */
  const memberOf = async (found: Found, email: string) => {
    const account = await accounts.findAccountByEmail(email);
    const before = account === undefined ? undefined : await members().findRole(found.project.id, account.id);
    if (before === "owner") requireRole(found.role, "own", "change an owner");
    return { account, before };
  };
  return {
    /** Makes an account a member, or gives a member another role. */
    async setMember(actor: ProjectActor, id: string, { email, ...body }: Body & { email: string }) {
      const found = await access.allowed(actor, id, ["manage", "change its members"]);
      const role = roleOf(body);
      if (role === "owner") requireRole(found.role, "own", "add an owner");
      const { account, before } = await memberOf(found, email);
      if (account === undefined)
        throw new ApiError("account_not_found", "There is no account with this e-mail address.", { param: "email" });
      const done = await members().setMember(id, account.id, role);
      if (done === "last_owner") throw lastOwner();
      if (done === "too_many")
        throw new ApiError("invalid_request", "This project has as many members as it may have.");
      const event = before === undefined ? "project_member_added" : "project_member_changed";
      await access.changed(actor, event, found.project, { member: account.email, role, memberId: account.id });
      const member = (await members().listMembers(id)).find(({ accountId }) => accountId === account.id);
      if (member === undefined) throw projectNotFound();
      return memberView(member);
    },

    /** Removes a member and revokes its keys in the project. Everyone may leave. */
    async removeMember(actor: ProjectActor, id: string, email: string): Promise<void> {
      const found = await access.found(actor, id);
      const { account } = await memberOf(found, email);
      if (account?.id !== actor.accountId) requireRole(found.role, "manage", "change its members");
      const done = account === undefined ? "not_member" : await members().removeMember(id, account.id);
      if (done === "last_owner") throw lastOwner();
      if (done === "not_member" || account === undefined)
        throw new ApiError("project_member_not_found", "This project has no member with this e-mail address.", {
          param: "email",
        });
      await access.changed(actor, "project_member_removed", found.project, {
        member: account.email,
        memberId: account.id,
      });
    },
  };
}
