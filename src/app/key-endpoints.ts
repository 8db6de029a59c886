// The endpoints that describe and manage keys as services. Wiring only.

import { OWN_KEY } from "../gateway/endpoints/own-key/routes.ts";
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
  add("own key", { routes: endpointRoutes(OWN_KEY, own) });
}
