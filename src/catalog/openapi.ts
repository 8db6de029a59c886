// The descriptions of the catalog's endpoints, for the documentation alone.

import { Type } from "@sinclair/typebox";
import { TIER_IDS } from "../config/schema-server.ts";
import { anyObject, oneOf, orNull, pathId } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { MODEL_KINDS } from "../vendors/model-kind.ts";

const TIER = oneOf(TIER_IDS, { description: "A plan." });

const MODEL = Type.Object(
  {
    id: Type.String({ description: "The value of `model` in requests." }),
    name: Type.String(),
    object: Type.Literal("model"),
    owned_by: Type.String(),
    provider: Type.String({ description: "The same as `owned_by`." }),
    type: oneOf([...MODEL_KINDS, "model"], {
      description: "The kind of model; `model` for clients that send `anthropic-version`.",
    }),
    tier: TIER,
    endpoints: Type.Array(Type.String(), { description: "Paths that accept it." }),
    capabilities: Type.Union([Type.Array(Type.String()), anyObject("For Anthropic's clients.")], {
      description: "As `text`, `vision`, `tool_use`, `reasoning`.",
    }),
    input_modalities: Type.Array(Type.String()),
    output_modalities: Type.Array(Type.String()),
    context_length: Type.Integer({ description: "Maximum number of input tokens." }),
    context_window: Type.Integer({ description: "The same as `context_length`." }),
    max_output_tokens: Type.Integer(),
    max_completion_tokens: Type.Integer({ description: "The same as `max_output_tokens`." }),
    supports_tools: Type.Boolean(),
    supports_vision: Type.Boolean(),
    supports_reasoning: Type.Boolean(),
    description: Type.String(),
    visibility: Type.String({ description: "`list`, or `hidden` for models that are only reachable by id." }),
    created: Type.Integer({ description: "Unix time in seconds; 0 if it is not known." }),
    display_name: Type.String(),
    created_at: Type.String(),
    pricing: anyObject("`prompt` and `completion` in dollars per token, as text; `0` where no price is known."),
    top_provider: anyObject("`context_length`, `max_completion_tokens`."),
    architecture: anyObject("Modalities, as OpenRouter's clients read them."),
    supported_parameters: Type.Array(Type.String()),
    canonical_slug: Type.String(),
    default_parameters: Type.Null(),
    per_request_limits: Type.Null(),
    supported_voices: Type.Null(),
    shutdown_date: Type.Null(),
    inferred: Type.Array(Type.String(), {
      description:
        "Names of members that are not known and are shown as the newest known model of the same family has them. " +
        "They are not enforced.",
    }),
    links: Type.Object({ details: Type.String() }),
  },
  { $id: "Model" },
);

/** The descriptions by the names of their operations. */
export const CATALOG_TEXTS = {
  listModels: {
    group: "Models" as const,
    summary: "List models",
    description:
      "All listed models, those above your plan among them. Clients of OpenAI, Anthropic and OpenRouter read the same list; " +
      "the key may come as `x-api-key`. Free of the rate limit. With `anthropic-version` each model also has `max_input_tokens`, " +
      "`max_tokens`, `lifecycle`, `deprecated_at`, `retires_at` and `line`, and `capabilities` is an object, as Anthropic's SDK reads them.",
    answer: {
      description: "The models.",
      schema: Type.Object(
        {
          object: Type.Literal("list"),
          data: Type.Array(MODEL),
          has_more: Type.Literal(false),
          first_id: orNull(Type.String()),
          last_id: orNull(Type.String()),
          total_count: Type.Integer(),
          links: Type.Object({ next: Type.Null() }),
        },
        { $id: "ModelList" },
      ),
    },
  },
  getModel: {
    group: "Models" as const,
    summary: "Read one model",
    description: "By id (in any case), alias or `provider/id`; including hidden models.",
    parameters: [pathId("model_id", "The id. Slashes may stand as they are or encoded.", "demo-echo")],
    answer: { description: "The model.", schema: MODEL },
    errors: ["model_not_found"],
  },
  listModelInfo: {
    group: "Models" as const,
    summary: "List models in LiteLLM's format",
    description: "Coding agents read context sizes and prices from it.",
    answer: {
      description: "The models.",
      schema: Type.Object(
        {
          data: Type.Array(
            Type.Object({
              model_name: Type.String(),
              litellm_params: Type.Object({ model: Type.String() }),
              model_info: anyObject("Kind (`mode`), limits, abilities, and prices in dollars per token or null."),
            }),
          ),
        },
        { $id: "ModelInfoList" },
      ),
    },
  },
  listTiers: {
    group: "Models" as const,
    summary: "List plans",
    description: "The models of each plan, and your own plan.",
    answer: {
      description: "The plans.",
      schema: Type.Object(
        {
          object: Type.Literal("list"),
          data: Type.Array(
            Type.Object(
              {
                id: TIER,
                name: Type.String(),
                rpm: Type.Integer({ description: "Requests per minute of one key." }),
                tpm: orNull(Type.Integer({ description: "Tokens per minute of one key; null: no limit." })),
                parallel: orNull(Type.Integer({ description: "Requests at once of one key; null: no limit." })),
                trial_days: orNull(Type.Number({ description: "How long a new account may use it." })),
                models: Type.Array(Type.String()),
              },
              { $id: "Tier" },
            ),
          ),
          current: TIER,
        },
        { $id: "TierList" },
      ),
    },
  },
} satisfies Record<string, NamelessText>;
