// Passes the public status endpoints what they need from the rest of the program. Wiring only.

import type { Clock } from "../base/clock.ts";
import { VERSION } from "../base/version.ts";
import type { Config } from "../config/schema.ts";
import type { Fleet } from "../gateway/providers.ts";
import { directAnswers, endpointRoutes } from "../http/served-endpoint.ts";
import { checkSubsystems } from "../status/health.ts";
import { type linksOf, STATUS_ENDPOINTS, type StatusDeps } from "../status/routes.ts";
import type { Store } from "../store/engine/store.ts";
import type { Verbs } from "../store/verbs.ts";
import type { createWeb } from "../web/assemble.ts";
import type { Node } from "./foundation.ts";
import { type createWatch, isListed } from "./health-watch.ts";
import type { Observer } from "./observe.ts";

export interface StatusServiceDeps {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly store: Pick<Store, "ping">;
  readonly verbs: Pick<Verbs, "usage">;
  readonly fleet: Fleet;
  readonly observer: Observer;
  readonly node: Pick<Node, "live">;
  /** Whether the program is stopping. */
  isLeaving(): boolean;
  readonly watch: ReturnType<typeof createWatch>;
  readonly web: Pick<ReturnType<typeof createWeb>, "count">;
  readonly uptimeSeconds: () => number;
  /** Keys pseudonyms that cannot be traced to an account. */
  readonly pseudonymSecret: string;
  readonly links: () => ReturnType<typeof linksOf>;
}

/** The breakers without those of models that the public may not know. */
function publicBreakers({ breakers, catalog }: Pick<Fleet, "breakers" | "catalog">) {
  const states = breakers.snapshot();
  for (const [provider, state] of states) {
    if (state.models.size === 0) continue;
    const routes = catalog()
      .models.filter(({ visibility }) => visibility === "list")
      .flatMap((model) => model.routes.filter((route) => route.provider === provider));
    const known = new Set(routes.map(({ model }) => model));
    states.set(provider, { ...state, models: new Map([...state.models].filter(([model]) => known.has(model))) });
  }
  return states;
}

/** Health, statistics, capabilities and metrics as a service. */
export function createStatus(deps: StatusServiceDeps) {
  const { config, clock, store, fleet, observer, watch, web, uptimeSeconds, pseudonymSecret, links } = deps;
  const { usage } = deps.verbs;
  const endpoints: StatusDeps = {
    version: VERSION,
    uptimeSeconds,
    breakers: () => publicBreakers(fleet),
    subsystems: watch.subsystems,
    tokenTotals: () => usage.tokenTotals(),
    totalsByModel: (limit) => usage.totalsByModel(limit),
    topAccounts: (limit) => usage.topAccounts(limit),
    isPublicModel: (id) => isListed(fleet, id),
    pseudonymSecret,
    links,
    ready: async () => {
      if (deps.isLeaving()) return false;
      // A load balancer does not wait as long as a request does.
      const { database } = await checkSubsystems({ database: async () => store.ping().then(() => ({ status: "ok" })) });
      return database?.status === "ok";
    },
    activeNodes: deps.node.live,
    listedModels: watch.listedCount,
    modelHealth: watch.modelHealth,
    daysOf: watch.daysOf,
    clock,
    maintenance: () => config().server.maintenance,
    metrics: () => config().server.metrics,
    async renderMetrics() {
      await web.count();
      return observer.metrics.render();
    },
  };
  return {
    routes: endpointRoutes(STATUS_ENDPOINTS, endpoints),
    /** What load balancers and supervisors ask. */
    directGets: directAnswers(STATUS_ENDPOINTS, endpoints, ["/health", "/livez", "/readyz"]),
  };
}
