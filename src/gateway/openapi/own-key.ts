// The descriptions of the endpoints about one's own key.

import { Type } from "@sinclair/typebox";
import { orNull } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

/** The members of a key that its holder sees. */
export const KEY_MEMBERS = {
  id: Type.String(),
  name: Type.String(),
  tier: Type.String({ description: "The account's plan." }),
  rpm: Type.Integer({ description: "Requests per minute: the key's own limit, otherwise the plan's limit." }),
  tpm: orNull(Type.Integer({ description: "Tokens per minute: the lowest limit that applies; null: no limit." })),
  parallel: orNull(Type.Integer({ description: "Requests at once: the lowest limit that applies; null: no limit." })),
  budget: orNull(Type.Number({ description: "The budget in US dollars; null if there is none." })),
  spent: Type.Number({
    description:
      "The amount in US dollars that was spent since the budget was last reset; without a budget, all that the key has spent.",
  }),
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
};

const KEY = Type.Object(KEY_MEMBERS, { $id: "OwnKey" });

const OPENROUTER_KEY = Type.Object(
  {
    data: Type.Object({
      label: Type.String(),
      usage: Type.Number({ description: "All that the key has spent." }),
      usage_daily: Type.Number(),
      usage_weekly: Type.Number(),
      usage_monthly: Type.Number(),
      byok_usage: Type.Number(),
      byok_usage_daily: Type.Number(),
      byok_usage_weekly: Type.Number(),
      byok_usage_monthly: Type.Number(),
      limit: orNull(Type.Number()),
      limit_remaining: orNull(Type.Number()),
      limit_reset: orNull(Type.String({ description: "`daily`, `weekly` or `monthly`; null for other periods." })),
      include_byok_in_limit: Type.Boolean(),
      is_free_tier: Type.Boolean(),
      is_management_key: Type.Boolean(),
      is_provisioning_key: Type.Boolean(),
      creator_user_id: Type.Null(),
      organization_id: Type.Null(),
      workspace_id: Type.Null(),
      allowed_data_regions: Type.Array(Type.String()),
      free_model_daily_requests: Type.Object({
        limit: Type.Integer(),
        remaining: Type.Integer(),
        used: Type.Integer(),
      }),
      expires_at: orNull(Type.String()),
      rate_limit: Type.Object({ requests: Type.Integer(), interval: Type.String(), note: Type.String() }),
    }),
  },
  { $id: "OpenRouterKey" },
);

const CREDITS = Type.Object(
  { data: Type.Object({ total_credits: Type.Number(), total_usage: Type.Number() }) },
  { $id: "OpenRouterCredits" },
);

const GENERATION = Type.Object(
  {
    data: Type.Object(
      {
        id: Type.String(),
        model: Type.String(),
        total_cost: orNull(Type.Number({ description: "US dollars; null if the price of the model is unknown." })),
        tokens_prompt: Type.Integer(),
        tokens_completion: Type.Integer(),
      },
      { additionalProperties: true },
    ),
  },
  { $id: "OpenRouterGeneration" },
);

const OPENROUTER_GENERATION: NamelessText = {
  group: "Accounts",
  summary: "Get what an answer cost in OpenRouter's format",
  description:
    "Finds a chat of one's own account by the `id` of its answer, as long as the request log keeps it. What the gateway does not keep is null. The request does not count against the rate limit.",
  parameters: [
    {
      name: "id",
      in: "query",
      required: true,
      schema: Type.String({ minLength: 1, maxLength: 200, description: "The id of the answer." }),
    },
  ],
  answer: { description: "The answer's usage and cost.", schema: GENERATION },
  errors: ["generation_not_found"],
};

const IN_OPENROUTERS_FORMAT: NamelessText = {
  group: "Accounts",
  summary: "Get one's own key in OpenRouter's format",
  description:
    "Amounts are in US dollars. What the gateway does not have is zero or null. The request does not count against the rate limit.",
  answer: { description: "The key.", schema: OPENROUTER_KEY },
};

const OWN_KEY: NamelessText = {
  group: "Accounts",
  summary: "Get one's own key",
  description:
    "Returns the key's plan, limits and remaining budget. The request does not count against the rate limit. `/key/info` is the same endpoint.",
  answer: { description: "The key.", schema: KEY },
};

const OPENROUTER_CREDITS: NamelessText = {
  group: "Accounts",
  summary: "Get the credits of one's own key in OpenRouter's format",
  description:
    "Amounts are in US dollars: all that the key has spent, and that with the rest of its budget, which is 0 without a budget. The request does not count against the rate limit.",
  answer: { description: "The sums.", schema: CREDITS },
};

/** The descriptions by the names of their operations. */
export const OWN_KEY_TEXTS = {
  getOwnKey: OWN_KEY,
  getOpenRouterKey: IN_OPENROUTERS_FORMAT,
  getOpenRouterAuthKey: IN_OPENROUTERS_FORMAT,
  getOpenRouterCredits: OPENROUTER_CREDITS,
  getOpenRouterGeneration: OPENROUTER_GENERATION,
};
