// The public status endpoints, open to everyone, and the operator's metrics.

import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { describedBy, openEndpoint, type ServedEndpoint } from "../http/served-endpoint.ts";
import { CAPABILITIES } from "./capabilities.ts";
import { type HealthDeps, health } from "./health.ts";
import type { ModelHealth } from "./model-health.ts";
import type { StatusPageFacts } from "./page.ts";
import { leaderboard, type StatsDeps, tokenStats } from "./stats.ts";

/** What the endpoints need. */
export interface StatusDeps extends HealthDeps, StatsDeps {
  /** The addresses of the documentation and the dashboard for people. */
  links(): { documentation: string; dashboard: string };
  /** Whether the database answers and no shutdown is in progress. */
  ready(): Promise<boolean>;
  /** Live nodes of this database, including this one. */
  activeNodes(): number;
  /** Publicly listed models. */
  listedModels(): number;
  readonly modelHealth: Pick<ModelHealth, "view">;
  /** A model's days, oldest first. */
  daysOf: StatusPageFacts["daysOf"];
  readonly clock: Clock;
  maintenance(): { readonly enabled: boolean; readonly message: string };
  /** Read at every request, so that a reload applies. */
  metrics(): { readonly enabled: boolean; readonly token: string };
  /** Prometheus text. */
  renderMetrics(): Promise<string> | string;
}

const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";
const NO_STORE = { "cache-control": "no-store" };

const statusText = describedBy(() => {
  const { STATUS_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return STATUS_TEXTS;
});

/** The endpoints. */
export const STATUS_ENDPOINTS: readonly ServedEndpoint<StatusDeps>[] = [
  openEndpoint("GET", "/", {
    describe: statusText("getService"),
    handle: (deps) =>
      Response.json({ service: "sallyport", version: deps.version, api_version: "v1", ...deps.links() }),
  }),
  openEndpoint("GET", "/health", {
    describe: statusText("getHealth"),
    handle: async (deps) => {
      const { ok, body } = await health(deps);
      return Response.json(body, { status: ok ? 200 : 503, headers: NO_STORE });
    },
  }),
  openEndpoint("GET", "/livez", {
    describe: statusText("getLiveness"),
    handle: () => Response.json({ status: "ok" }, { headers: NO_STORE }),
  }),
  openEndpoint("GET", "/readyz", {
    describe: statusText("getReadiness"),
    handle: async (deps) => {
      const ready = await deps.ready().catch(() => false);
      return Response.json({ status: ready ? "ok" : "unavailable" }, { status: ready ? 200 : 503, headers: NO_STORE });
    },
  }),
  openEndpoint("GET", "/v1/status/runtime", {
    describe: statusText("getRuntime"),
    handle: (deps) =>
      Response.json({
        active_nodes: deps.activeNodes(),
        active_models: deps.listedModels(),
        uptime_seconds: deps.uptimeSeconds(),
      }),
  }),
  openEndpoint("GET", "/v1/status/models", {
    describe: statusText("getModelStatus"),
    handle: (deps) => Response.json(deps.modelHealth.view()),
  }),
  openEndpoint("GET", "/v1/stats/tokens", {
    describe: statusText("getTokenStats"),
    handle: async (deps) => Response.json(await tokenStats(deps)),
  }),
  openEndpoint("GET", "/v1/stats/tokens/leaderboard", {
    describe: statusText("getLeaderboard"),
    handle: async (deps) => Response.json(await leaderboard(deps)),
  }),
  openEndpoint("GET", "/v1/capabilities", {
    describe: statusText("getCapabilities"),
    handle: () => Response.json(CAPABILITIES),
  }),
  openEndpoint("GET", "/metrics", {
    describe: statusText("getMetrics"),
    handle: async (deps, { request }) => {
      const { enabled, token } = deps.metrics();
      if (!enabled) throw new ApiError("route_not_found", "Not found.");
      if (token !== "" && !bears(request, token))
        throw new ApiError("invalid_token", "Metrics require the bearer token of server.metrics.token.");
      return new Response(await deps.renderMetrics(), { headers: { "content-type": PROMETHEUS_TEXT, ...NO_STORE } });
    },
  }),
  openEndpoint("GET", "/status", {
    describe: statusText("getStatusPage"),
    handle: async (deps) => {
      const { statusPage } = await import("./page.ts");
      return statusPage(await pageFacts(deps));
    },
  }),
];

async function pageFacts(deps: StatusDeps): Promise<StatusPageFacts> {
  const [totals, board] = await Promise.all([tokenStats(deps), leaderboard(deps)]);
  const { enabled, message } = deps.maintenance();
  return {
    nowMs: deps.clock.now(),
    version: deps.version,
    uptimeSeconds: deps.uptimeSeconds(),
    maintenance: enabled ? message : undefined,
    models: deps.modelHealth.view(),
    daysOf: deps.daysOf,
    totals,
    leaderboard: board,
  };
}

function bears(request: Request, token: string): boolean {
  const given = /^Bearer (.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  // Digests have equal lengths, so that the comparison takes constant time.
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  return crypto.timingSafeEqual(digest(given), digest(token));
}

/** The addresses of pages for people; `listening` applies if none is configured. */
export function linksOf(server: { readonly publicUrl: string; readonly dashboardUrl: string }, listening: string) {
  const base = server.publicUrl || listening;
  return { documentation: `${base}/docs`, dashboard: server.dashboardUrl || `${base}/dashboard` };
}
