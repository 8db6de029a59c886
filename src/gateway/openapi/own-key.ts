// The OpenAPI description of the endpoints that describe the caller's own key.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, orNull } from "../../http/endpoint.ts";

const KEY = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    tier: Type.String({ description: "The account's plan." }),
    rpm: Type.Integer({ description: "Requests a minute: the key's own limit, else the plan's." }),
    budget: orNull(Type.Number({ description: "US dollars; null: none." })),
    spent: Type.Number({ description: "US dollars of the budget, since it began anew." }),
    resets_at: orNull(Type.String({ description: "When the budget begins anew; null: never." })),
    expires_at: orNull(Type.String({ description: "Null: never." })),
    debug_until: orNull(
      Type.String({
        description: "The operator debugs the key: until then what passes for it is kept. Null: nothing is.",
      }),
    ),
    models: Type.Array(Type.String(), { description: "Patterns of the models that it may use." }),
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
  summary: "Get one's own key in OpenRouter's shape",
  description: "Money in US dollars. Free of the rate limit.",
  access: "key",
  answer: { description: "The key.", schema: OPENROUTER_KEY },
});

/** Their descriptions. */
export const OWN_KEY: readonly ApiEndpoint[] = [
  {
    method: "GET",
    path: "/v1/key",
    id: "getOwnKey",
    group: "Accounts",
    summary: "Get one's own key",
    description: "Its plan, limits and what is left of its budget. Free of the rate limit; also at `/key/info`.",
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
    summary: "Get what one's own key may spend, in OpenRouter's shape",
    description: "US dollars; both are 0 for a key without a budget. Free of the rate limit.",
    access: "key",
    answer: { description: "The sums.", schema: CREDITS },
  },
];
