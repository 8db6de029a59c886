// The endpoints that describe and manage keys as services. Wiring only.

import { PROJECT_ENDPOINTS } from "../accounts/projects/routes.ts";
import { OWN_KEY } from "../gateway/endpoints/own-key/routes.ts";
import { USAGE_REPORT_ENDPOINTS } from "../gateway/endpoints/usage-report/routes.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import type { Foundation } from "./foundation.ts";
import type { addUpstreams } from "./upstreams.ts";

/** Adds them. */
export function addKeyEndpoints(
  { add, callers, verbs, writer, grants, clock }: Foundation,
  { catalog }: Pick<ReturnType<typeof addUpstreams>["fleet"], "catalog">,
): void {
  const { authenticate, authenticateAny } = callers;
  const { keys, usage } = verbs;
  const own = { authenticate, authenticateAny, keys, usage, writer, grants, clock, catalog };
  const projects = {
    ...{ authenticateManager: callers.authenticateManager, keysChanged: callers.changed },
    ...{ accounts: verbs.accounts, audit: verbs.audit, writer, clock },
    projects: () => verbs.projects,
    members: () => verbs.projectMembers,
  };
  add("projects", { routes: endpointRoutes(PROJECT_ENDPOINTS, projects) });
  add("own key", { routes: endpointRoutes(OWN_KEY, own) });
  const { authenticateManager } = callers;
  const report = { authenticateManager, usage, writer, clock };
  add("usage report", { routes: endpointRoutes(USAGE_REPORT_ENDPOINTS, report) });
}
