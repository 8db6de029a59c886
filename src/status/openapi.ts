// The descriptions of the status endpoints, for the documentation alone.

import { type TSchema, Type } from "@sinclair/typebox";
import { mapOf, oneOf, orNull } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";

/** What is said of an endpoint of this room. */
type Told = Pick<NamelessText, "summary" | "description" | "otherFailures" | "errors"> & {
  readonly answer: string;
  readonly schema: TSchema;
  readonly type?: string;
};

const status = ({ answer, schema, type, ...told }: Told): NamelessText => ({
  group: "Status",
  ...told,
  answer: { description: answer, schema, ...(type === undefined ? {} : { type }) },
});

const STATE = Type.Object({ status: oneOf(["ok", "unavailable"]) }, { $id: "Liveness" });

const BREAKER = {
  state: oneOf(["closed", "open", "half_open"]),
  failures: Type.Integer(),
  opened_at: orNull(Type.String()),
};

const HEALTH = Type.Object(
  {
    status: oneOf(["ok", "degraded"]),
    version: Type.String(),
    uptime_seconds: Type.Integer(),
    breakers: mapOf(
      Type.Object({
        ...BREAKER,
        models: Type.Optional(
          mapOf(Type.Object(BREAKER), { description: "By the provider's model, where the states differ." }),
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

/** The descriptions by the names of their operations. */
export const STATUS_TEXTS = {
  getService: status({
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
  getHealth: status({
    summary: "Health with details",
    description:
      "200 while the database works and no provider's circuit breaker is open; else 503 with the same body and `status` " +
      "`degraded`. Names no hidden model, key or address.",
    answer: "Everything works.",
    schema: HEALTH,
    otherFailures: [
      {
        status: 503,
        description: "the database or a provider fails; the members are the same",
        schema: HEALTH,
      },
    ],
  }),
  getLiveness: status({
    summary: "Check that the program runs",
    description: "200 while the program serves requests. For supervisors.",
    answer: "It does.",
    schema: STATE,
  }),
  getReadiness: status({
    summary: "Check that it accepts requests",
    description:
      "200 while the database answers and the program is not stopping, else 503 with `status` `unavailable`. For load balancers.",
    answer: "It can.",
    schema: STATE,
    otherFailures: [
      { status: 503, description: "the database does not answer, or the program is stopping", schema: STATE },
    ],
  }),
  getRuntime: status({
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
  getModelStatus: status({
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
  getTokenStats: status({
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
  getLeaderboard: status({
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
  getCapabilities: status({
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
  getMetrics: status({
    summary: "Metrics for Prometheus",
    description:
      "Prometheus text. With `server.metrics.token` it needs that token as bearer; with `server.metrics.enabled: false` it is 404.",
    answer: "The metrics.",
    type: "text/plain",
    schema: Type.String(),
    errors: ["invalid_token", "route_not_found"],
  }),
  getStatusPage: status({
    summary: "The public status page",
    description:
      "For people: the health of each listed model now and over 90 days, totals and the leaderboard. Has no scripts and loads nothing from elsewhere.",
    answer: "The page.",
    type: "text/html",
    schema: Type.String(),
  }),
};
