// Who manages projects, and what its role lets it do.

import { ApiError } from "../../base/errors.ts";
import type { ProjectRole } from "../../store/access/projects.ts";
import type { ManagementScope } from "../../store/schema.ts";
import type { Client } from "../client.ts";

/** Whoever acts: a person in the dashboard, or a program with a management key. */
export interface ProjectActor {
  readonly accountId: string;
  /** `all` manages every project; `project` that of the key alone. */
  readonly scope: ManagementScope;
  readonly projectId: string | null;
  /** The management key; undefined in the dashboard. */
  readonly keyId?: string;
  readonly client: Client;
}

/** What needs a role. */
export type ProjectAction = "see" | "manage" | "own";

const ALLOWED: Readonly<Record<ProjectAction, readonly ProjectRole[]>> = {
  see: ["owner", "manager", "member"],
  manage: ["owner", "manager"],
  own: ["owner"],
};

/** Throws `ApiError` 403 if a role does not allow that. */
export function requireRole(role: ProjectRole, action: ProjectAction, what: string): void {
  if (ALLOWED[action].includes(role)) return;
  const needed = ALLOWED[action].join(" or ");
  throw new ApiError(
    "project_role_required",
    `Your role in this project is ${role}: to ${what} you must be its ${needed}.`,
  );
}

/** The 404 for a project that does not exist, or of which the caller is no member. */
export function projectNotFound(): ApiError {
  return new ApiError("project_not_found", "There is no project with this id among yours.", { param: "id" });
}
