// The endpoints that describe and manage keys as services. Wiring only.

import { PROJECT_ENDPOINTS } from "../accounts/projects/routes.ts";
import { MANAGED_KEY_ENDPOINTS } from "../gateway/endpoints/managed-keys/routes.ts";
import { OWN_KEY } from "../gateway/endpoints/own-key/routes.ts";
import { USAGE_REPORT_ENDPOINTS } from "../gateway/endpoints/usage-report/routes.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import type { Foundation } from "./foundation.ts";
import { projectDepsOf } from "./project-deps.ts";
import type { addUpstreams } from "./upstreams.ts";

/** Adds them. */
export function addKeyEndpoints(
  { add, callers, verbs, writer, grants, clock, bodyLimits }: Foundation,
  { catalog }: Pick<ReturnType<typeof addUpstreams>["fleet"], "catalog">,
): void {
  const { authenticate, authenticateAny, authenticateManager } = callers;
  const { keys, usage, accounts, audit } = verbs;
  const own = { authenticate, authenticateAny, keys, usage, writer, grants, clock, catalog };
  const projects = { authenticateManager, ...projectDepsOf({ verbs, writer, clock }, callers.changed) };
  add("projects", { routes: endpointRoutes(PROJECT_ENDPOINTS, projects) });
  add("own key", { routes: endpointRoutes(OWN_KEY, own) });
  const report = { authenticateManager, usage, writer, clock };
  add("usage report", { routes: endpointRoutes(USAGE_REPORT_ENDPOINTS, report) });
  const managed = {
    ...{ authenticateManager, keys, accounts, audit, writer, grants, clock, bodyLimits },
    projectMembers: () => verbs.projectMembers,
    keysChanged: callers.changed,
  };
  add("managed keys", { routes: endpointRoutes(MANAGED_KEY_ENDPOINTS, managed) });
}
