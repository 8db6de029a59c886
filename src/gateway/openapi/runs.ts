// The descriptions of the endpoints of agent runs.

import { Type } from "@sinclair/typebox";
import { orNull } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

const RUN = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: "What the client calls the run, and where it wrote that." }),
    key_id: Type.String({ description: "The key of the first request." }),
    started_at: orNull(Type.String()),
    last_at: orNull(Type.String({ description: "The time of the last request." })),
    requests: Type.Integer(),
    tokens: Type.Integer(),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cached_share: orNull(
      Type.Number({ description: "The part of the input that was read from a provider's cache; null without input." }),
    ),
    cost: Type.Number({ description: "US dollars." }),
    routes: Type.Array(Type.Object({ route: Type.String(), calls: Type.Integer(), cost: Type.Number() })),
    dropped_reasoning: Type.Integer({ description: "Items of reasoning that were not sent to a provider." }),
    dropped: Type.Array(Type.String(), { description: "Parameters that a provider did not get." }),
    stopped: orNull(
      Type.Object(
        {
          limit: Type.Union([Type.Literal("usd"), Type.Literal("requests"), Type.Literal("repeats")]),
          spent: Type.Number({ description: "What was reached of the limit." }),
        },
        { description: "The limit at which the run is stopped; null while it goes on." },
      ),
    ),
  },
  { $id: "AgentRun" },
);

const ID = {
  name: "id",
  in: "path",
  required: true,
  schema: Type.String({ description: "The id of the run." }),
} as const;

/** The descriptions by the names of their operations. */
export const RUN_TEXTS = {
  listRuns: {
    group: "Accounts",
    summary: "List agent runs",
    description: "Lists the agent runs of one's own account, those that began last first.",
    parameters: [
      { name: "limit", in: "query", schema: Type.Integer({ minimum: 1, maximum: 100, default: 50 }) },
      {
        name: "before",
        in: "query",
        schema: Type.String({ description: "The id of the last run of the page before." }),
      },
    ],
    answer: {
      description: "The runs.",
      schema: Type.Object({ object: Type.Literal("list"), data: Type.Array(RUN), has_more: Type.Boolean() }),
    },
    errors: ["invalid_request"],
  },
  getRun: {
    group: "Accounts",
    summary: "Get an agent run",
    description: "Returns an agent run of one's own account.",
    parameters: [ID],
    answer: { description: "The run.", schema: RUN },
    errors: ["run_not_found"],
  },
  allowRun: {
    group: "Accounts",
    summary: "Let an agent run go on",
    description:
      "Raises the limits of one agent run of one's own account. Without an amount, the run may go on by as much as the limit that it has reached.",
    parameters: [ID],
    body: {
      schema: Type.Object(
        {
          usd: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "US dollars that it may cost beyond its limit." }),
          ),
          requests: Type.Optional(
            Type.Integer({ minimum: 1, description: "Requests that it may make beyond its limit." }),
          ),
        },
        { $id: "AllowRun" },
      ),
      required: false,
      examples: { plain: { usd: 2 }, "by as much as the limit": {} },
    },
    answer: { description: "The run.", schema: RUN },
    errors: ["invalid_request", "run_not_found"],
  },
} satisfies Record<string, NamelessText>;
