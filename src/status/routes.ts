// The public status endpoints, open to everyone, and the operator's metrics.

import { type TSchema, Type } from "@sinclair/typebox";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { mapOf, oneOf, orNull } from "../http/endpoint.ts";
import type { EndpointText, ServedEndpoint } from "../http/served-endpoint.ts";
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

/** What is said of an endpoint of this room. */
type Told = Pick<EndpointText, "summary" | "description" | "otherFailures" | "errors"> & {
  readonly answer: string;
  readonly schema: TSchema;
  readonly type?: string;
};

const get = (
  path: string,
  id: string,
  { handle, describe }: Pick<ServedEndpoint<StatusDeps>, "handle"> & { describe(): Told },
): ServedEndpoint<StatusDeps> => ({
  ...{ method: "GET", path, access: "open", handle },
  describe: () => {
    const { answer, schema, type, ...told } = describe();
    const body = { description: answer, schema, ...(type === undefined ? {} : { type }) };
    return { id, group: "Status", ...told, answer: body };
  },
});

/** Made when they are described, as the descriptions are. */
const stateSchema = () => Type.Object({ status: oneOf(["ok", "unavailable"]) }, { $id: "Liveness" });

function healthSchema() {
  const breaker = {
    state: oneOf(["closed", "open", "half_open"]),
    failures: Type.Integer(),
    opened_at: orNull(Type.String()),
  };

  return Type.Object(
    {
      status: oneOf(["ok", "degraded"]),
      version: Type.String(),
      uptime_seconds: Type.Integer(),
      breakers: mapOf(
        Type.Object({
          ...breaker,
          models: Type.Optional(
            mapOf(Type.Object(breaker), { description: "By the provider's model, where the states differ." }),
          ),
        }),
        { description: "By provider: the worst state of its models." },
      ),
      subsystems: mapOf(
        Type.Object({ status: oneOf(["ok", "degraded", "unavailable", "disabled"]) }, { additionalProperties: true }),
        { description: "By name: `database`, `browser`, `jobs` and others." },
      ),
    },
    { $id: "Health" },
  );
}

/** The endpoints. */
export const STATUS_ENDPOINTS: readonly ServedEndpoint<StatusDeps>[] = [
  get("/", "getService", {
    handle: (deps) =>
      Response.json({ service: "sallyport", version: deps.version, api_version: "v1", ...deps.links() }),
    describe: () => ({
      summary: "Describe the service",
      description: "Name and version, and the addresses of the documentation and the dashboard.",
      answer: "The service.",
      schema: Type.Object(
        {
          service: Type.Literal("sallyport"),
          version: Type.String(),
          api_version: Type.Literal("v1"),
          documentation: Type.String(),
          dashboard: Type.String(),
        },
        { $id: "Service" },
      ),
    }),
  }),
  get("/health", "getHealth", {
    handle: async (deps) => {
      const { ok, body } = await health(deps);
      return Response.json(body, { status: ok ? 200 : 503, headers: NO_STORE });
    },
    describe: () => ({
      summary: "Health with details",
      description:
        "200 while the database works and no provider's circuit breaker is open; else 503 with the same body and `status` " +
        "`degraded`. Names no hidden model, key or address.",
      answer: "Everything works.",
      schema: healthSchema(),
      otherFailures: [
        {
          status: 503,
          description: "the database or a provider fails; the members are the same",
          schema: healthSchema(),
        },
      ],
    }),
  }),
  get("/livez", "getLiveness", {
    handle: () => Response.json({ status: "ok" }, { headers: NO_STORE }),
    describe: () => ({
      summary: "Check that the program runs",
      description: "200 while the program serves requests. For supervisors.",
      answer: "It does.",
      schema: stateSchema(),
    }),
  }),
  get("/readyz", "getReadiness", {
    handle: async (deps) => {
      const ready = await deps.ready().catch(() => false);
      return Response.json({ status: ready ? "ok" : "unavailable" }, { status: ready ? 200 : 503, headers: NO_STORE });
    },
    describe: () => ({
      summary: "Check that it accepts requests",
      description:
        "200 while the database answers and the program is not stopping, else 503 with `status` `unavailable`. For load balancers.",
      answer: "It can.",
      schema: stateSchema(),
      otherFailures: [
        { status: 503, description: "the database does not answer, or the program is stopping", schema: stateSchema() },
      ],
    }),
  }),
  get("/v1/status/runtime", "getRuntime", {
    handle: (deps) =>
      Response.json({
        active_nodes: deps.activeNodes(),
        active_models: deps.listedModels(),
        uptime_seconds: deps.uptimeSeconds(),
      }),
    describe: () => ({
      summary: "Read nodes, models and uptime",
      description: "Public figures of the running service.",
      answer: "The figures.",
      schema: Type.Object(
        {
          active_nodes: Type.Integer({
            description: "Live nodes of this database. A node that has stopped is left out after 30 s at the latest.",
          }),
          active_models: Type.Integer(),
          uptime_seconds: Type.Integer(),
        },
        { $id: "Runtime" },
      ),
    }),
  }),
  get("/v1/status/models", "getModelStatus", {
    handle: (deps) => Response.json(deps.modelHealth.view()),
    describe: () => ({
      summary: "Health of each model",
      description:
        "Judged at every `health.interval` from traffic and from the providers' model lists. `unknown`: nothing was seen of the model, and `last_checked` is the time since which this is so.",
      answer: "The models.",
      schema: Type.Object(
        {
          models: Type.Array(
            Type.Object({
              id: Type.String(),
              status: oneOf(["healthy", "degraded", "unavailable", "unknown"]),
              last_checked: Type.String(),
              latency_p50_ms: Type.Optional(Type.Integer()),
              latency_p99_ms: Type.Optional(Type.Integer()),
            }),
          ),
          refreshed_at: Type.String(),
        },
        { $id: "ModelStatusList" },
      ),
    }),
  }),
  get("/v1/stats/tokens", "getTokenStats", {
    handle: async (deps) => Response.json(await tokenStats(deps)),
    describe: () => ({
      summary: "Read the tokens of all time",
      description: "Public totals.",
      answer: "The totals.",
      schema: Type.Object(
        {
          total_tokens: Type.Integer(),
          input_tokens: Type.Integer(),
          output_tokens: Type.Integer(),
          requests: Type.Integer(),
          since: orNull(Type.String()),
          updated_at: orNull(Type.String()),
        },
        { $id: "TokenStats" },
      ),
    }),
  }),
  get("/v1/stats/tokens/leaderboard", "getLeaderboard", {
    handle: async (deps) => Response.json(await leaderboard(deps)),
    describe: () => ({
      summary: "List the most used models and the most active users",
      description: "Users appear under stable pseudonyms, from which no account can be identified.",
      answer: "The leaderboard.",
      schema: Type.Object(
        {
          models: Type.Array(
            Type.Object({ model_id: Type.String(), total_tokens: Type.Integer(), requests: Type.Integer() }),
          ),
          users: Type.Array(Type.Object({ rank: Type.Integer(), user: Type.String(), total_tokens: Type.Integer() })),
          total_tokens: Type.Integer(),
          updated_at: orNull(Type.String()),
        },
        { $id: "Leaderboard" },
      ),
    }),
  }),
  get("/v1/capabilities", "getCapabilities", {
    handle: () => Response.json(CAPABILITIES),
    describe: () => ({
      summary: "Read the capabilities of this gateway",
      description: "Flags that clients check when they start. False: not available now.",
      answer: "The flags.",
      schema: Type.Object(
        {
          service: Type.Literal("sallyport"),
          api_version: Type.Literal("v1"),
          compatibility: mapOf(Type.Boolean()),
        },
        { $id: "Capabilities" },
      ),
    }),
  }),
  get("/metrics", "getMetrics", {
    handle: async (deps, { request }) => {
      const { enabled, token } = deps.metrics();
      if (!enabled) throw new ApiError("route_not_found", "Not found.");
      if (token !== "" && !bears(request, token))
        throw new ApiError("invalid_token", "Metrics require the bearer token of server.metrics.token.");
      return new Response(await deps.renderMetrics(), { headers: { "content-type": PROMETHEUS_TEXT, ...NO_STORE } });
    },
    describe: () => ({
      summary: "Metrics for Prometheus",
      description:
        "Prometheus text. With `server.metrics.token` it needs that token as bearer; with `server.metrics.enabled: false` it is 404.",
      answer: "The metrics.",
      type: "text/plain",
      schema: Type.String(),
      errors: ["invalid_token", "route_not_found"],
    }),
  }),
  get("/status", "getStatusPage", {
    handle: async (deps) => {
      const { statusPage } = await import("./page.ts");
      return statusPage(await pageFacts(deps));
    },
    describe: () => ({
      summary: "The public status page",
      description:
        "For people: the health of each listed model now and over 90 days, totals and the leaderboard. Has no scripts and loads nothing from elsewhere.",
      answer: "The page.",
      type: "text/html",
      schema: Type.String(),
    }),
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
