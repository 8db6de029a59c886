// Firecrawl's endpoints and jobs in a running gateway. Their code is loaded with the first request or job: most gateways have none.

import { lazily } from "../../base/lazily.ts";
import { LateRoutes } from "../../http/join-routes.ts";
import { lazyKind } from "../../jobs/kind.ts";
import type { FirecrawlDeps } from "./assemble.ts";
import type { FirecrawlRoutesDeps } from "./routes.ts";

/** Patterns that the paths of all endpoints match. */
const PATHS: readonly string[] = ["/v2/*", "/v1/batch/scrape", "/v1/batch/scrape/*", "/v1/crawl/:id/errors"];

const serving = lazily(() => {
  const { firecrawlRoutes, watchJobOfV1 }: typeof import("./routes.ts") = require("./routes.ts");
  return { firecrawlRoutes, watchJobOfV1 };
});

/** What the endpoints need of the gateway's own. */
type Endpoints = Omit<FirecrawlRoutesDeps, "pages" | "watchers" | "jobs"> & {
  readonly crawls: Omit<FirecrawlRoutesDeps["jobs"], "jobs" | "headers" | "rules" | "limits">;
};

/** Creates the endpoints and jobs when they are first used. */
export function createLateFirecrawl(deps: FirecrawlDeps) {
  const service = lazily(() => {
    const { createFirecrawl }: typeof import("./assemble.ts") = require("./assemble.ts");
    return createFirecrawl(deps);
  });
  return {
    crawling: () => service().crawling,
    batch: lazyKind("batch", () => service().batch),
    /** The routes, and what answers a WebSocket at a crawl's own address. */
    endpoints(own: Endpoints, jobs: FirecrawlRoutesDeps["jobs"]["jobs"]) {
      const all = lazily((): FirecrawlRoutesDeps => {
        const made = service();
        const limits = () => deps.config().web;
        return { ...own, ...made, jobs: { ...own.crawls, ...made.pages, ...made, jobs, limits } };
      });
      return {
        routes: new LateRoutes(PATHS, () => serving().firecrawlRoutes(all())),
        watchJob: (request: Request, id: string) => serving().watchJobOfV1(request, id, all()),
      };
    },
    stop: () => service.ifMade()?.stop(),
  };
}
