// The OpenAPI description of the endpoints that describe the caller's own key.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, orNull } from "../../http/endpoint.ts";

const KEY = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    tier: Type.String({ description: "The account's plan." }),
    rpm: Type.Integer({ description: "Requests per minute: the key's own limit, otherwise the plan's limit." }),
    budget: orNull(Type.Number({ description: "The budget in US dollars; null if there is none." })),
    spent: Type.Number({ description: "The amount in US dollars that was spent since the budget was last reset." }),
    resets_at: orNull(
      Type.String({ description: "The time at which the budget is next reset; null if it is never reset." }),
    ),
    expires_at: orNull(Type.String({ description: "Null: never." })),
    debug_until: orNull(
      Type.String({
        description:
          "The time until which the operator records requests of this key for debugging; null if nothing is recorded.",
      }),
    ),
    models: Type.Array(Type.String(), { description: "Patterns of the models that the key may use." }),
  },
  { $id: "OwnKey" },
);

const OPENROUTER_KEY = Type.Object(
  {
    data: Type.Object({
      label: Type.String(),
      usage: Type.Number(),
      limit: orNull(Type.Number()),
      limit_remaining: orNull(Type.Number()),
      is_free_tier: Type.Boolean(),
      rate_limit: Type.Object({ requests: Type.Integer(), interval: Type.String() }),
    }),
  },
  { $id: "OpenRouterKey" },
);

const CREDITS = Type.Object(
  { data: Type.Object({ total_credits: Type.Number(), total_usage: Type.Number() }) },
  { $id: "OpenRouterCredits" },
);

const openRouterKey = (path: string, id: string): ApiEndpoint => ({
  method: "GET",
  path,
  id,
  group: "Accounts",
  summary: "Get one's own key in OpenRouter's format",
  description: "Amounts are in US dollars. The request does not count against the rate limit.",
  access: "key",
  answer: { description: "The key.", schema: OPENROUTER_KEY },
});

/** The descriptions of the endpoints. */
export const OWN_KEY: readonly ApiEndpoint[] = [
  {
    method: "GET",
    path: "/v1/key",
    id: "getOwnKey",
    group: "Accounts",
    summary: "Get one's own key",
    description:
      "Returns the key's plan, limits and remaining budget. The request does not count against the rate limit. `/key/info` is the same endpoint.",
    access: "key",
    answer: { description: "The key.", schema: KEY },
  },
  openRouterKey("/api/v1/key", "getOpenRouterKey"),
  openRouterKey("/api/v1/auth/key", "getOpenRouterAuthKey"),
  {
    method: "GET",
    path: "/api/v1/credits",
    id: "getOpenRouterCredits",
    group: "Accounts",
    summary: "Get the credits of one's own key in OpenRouter's format",
    description:
      "Amounts are in US dollars. Both are 0 for a key without a budget. The request does not count against the rate limit.",
    access: "key",
    answer: { description: "The sums.", schema: CREDITS },
  },
];
