// What the groups of an identity provider give to an account: memberships of projects and a plan. Applied at each sign-in, so that
// what a group gave ends when the person has left the group.

import type { TierConfig, TierId } from "../../config/schema.ts";
import type { AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { GroupRole, ProjectMemberStore } from "../../store/access/project-members.ts";
import type { Client } from "../client.ts";
import type { OAuthConfig } from "./provider.ts";

/** What applying groups needs. */
export interface GroupsDeps {
  readonly accounts: Pick<AccountStore, "setGroupPlan">;
  readonly audit: Pick<AuditStore, "addAudit">;
  members(): Pick<ProjectMemberStore, "setGroupRoles">;
  tiers(): readonly TierConfig[];
  /** Drops cached copies of accounts and keys. */
  accountsChanged(): void;
}

/** A person's groups at one provider. */
export interface GroupsOf {
  readonly slug: string;
  /** What groups give; none if the provider is not configured any more. */
  readonly given: OAuthConfig["groups"];
  readonly groups: readonly string[];
  readonly client: Client;
}

/** Gives an account what its groups give now, and ends what they gave before. What a person decided stays. */
export async function applyGroups(
  deps: GroupsDeps,
  accountId: string,
  { slug, given, groups, client }: GroupsOf,
): Promise<void> {
  const start = deps.tiers()[0];
  if (start === undefined) throw new Error("there is no plan");
  const held = given.filter(({ group }) => groups.includes(group));
  const changes = await deps.members().setGroupRoles(accountId, slug, rolesOf(held));
  const tier = await deps.accounts.setGroupPlan(accountId, slug, { tier: tierOf(held, deps.tiers()), start });
  if (changes.length > 0 || tier !== undefined) deps.accountsChanged();
  for (const { change, projectId, name, ownerId, role } of changes) {
    const entry = { event: `project_member_${change}`, ...client };
    const detail = { project_id: projectId, name, role, provider: slug };
    await deps.audit.addAudit({ ...entry, accountId, detail });
    if (ownerId !== accountId)
      await deps.audit.addAudit({ ...entry, accountId: ownerId, detail: { ...detail, by: accountId } });
  }
  if (tier !== undefined)
    await deps.audit.addAudit({ accountId, event: "plan_set", ...client, detail: { tier, provider: slug } });
}

/** One role for each project: the higher one where several groups give one. */
function rolesOf(held: OAuthConfig["groups"]): GroupRole[] {
  const roles = new Map<string, GroupRole>();
  for (const { project, role } of held)
    if (project !== "" && roles.get(project)?.role !== "manager") roles.set(project, { projectId: project, role });
  return [...roles.values()];
}

/** The highest plan that a group gives; plans are in the order of their rank. */
function tierOf(held: OAuthConfig["groups"], tiers: readonly TierConfig[]): TierId | undefined {
  return tiers.filter(({ id }) => held.some(({ tier }) => tier === id)).at(-1)?.id;
}
