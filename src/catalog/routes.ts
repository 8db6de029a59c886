// GET /v1/models, /v1/models/{id} (including ids with slashes and percent signs), /v1/model/info and /v1/tiers. They do not
// count against the rate limit, and work for accounts whose plan has ended; a key is required.

import { Type } from "@sinclair/typebox";
import type { AtOnce } from "../base/at-once.ts";
import type { TierId } from "../config/schema.ts";
import { TIER_IDS } from "../config/schema-server.ts";
import { anyObject, oneOf, orNull, pathId } from "../http/endpoint.ts";
import { endpointsBehind, type ServedEndpoint } from "../http/served-endpoint.ts";
import { MODEL_KINDS } from "../vendors/model-kind.ts";
import { keyMayUse } from "./key-models.ts";
import { modelInfo } from "./model-info.ts";
import type { Catalog } from "./models.ts";
import { type ModelAccess, modelNotFound, requireVisibleModel } from "./resolve.ts";
import { type TierGrant, tiersView } from "./tiers.ts";
import { modelListView, modelView, type ViewOptions } from "./view.ts";

/** What the endpoints need. */
export interface CatalogDeps {
  /** Throws `ApiError` 401 if the request has no valid key. */
  authenticate(request: Request): AtOnce<ModelAccess>;
  /** The current catalog. */
  catalog(): Catalog;
  tiers(): Readonly<Record<TierId, TierGrant>>;
}

/** No model has a longer id. A longer one is not decoded. */
const ID_CHARS_MAX = 1024;

const MODEL_PATH = "/v1/models/";

const keyed = endpointsBehind("key", (deps: CatalogDeps, request) => deps.authenticate(request));

const tierSchema = () => oneOf(TIER_IDS, { description: "A plan." });

const modelSchema = () =>
  Type.Object(
    {
      id: Type.String({ description: "The value of `model` in requests." }),
      name: Type.String(),
      object: Type.Literal("model"),
      owned_by: Type.String(),
      provider: Type.String({ description: "The same as `owned_by`." }),
      type: oneOf([...MODEL_KINDS, "model"], {
        description: "The kind of model; `model` for clients that send `anthropic-version`.",
      }),
      tier: tierSchema(),
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

/** The catalog's endpoints. */
export const CATALOG_ENDPOINTS: readonly ServedEndpoint<CatalogDeps>[] = [
  keyed("GET", "/v1/models", {
    handle: (deps, { request, caller }) =>
      Response.json(modelListView(allowed(deps.catalog(), caller), viewOptions(request))),
    describe: () => ({
      id: "listModels",
      group: "Models",
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
            data: Type.Array(modelSchema()),
            has_more: Type.Literal(false),
            first_id: orNull(Type.String()),
            last_id: orNull(Type.String()),
            total_count: Type.Integer(),
            links: Type.Object({ next: Type.Null() }),
          },
          { $id: "ModelList" },
        ),
      },
    }),
  }),
  keyed("GET", "/v1/models/*", {
    handle: (deps, { request, caller }) => {
      const model = requireVisibleModel(deps.catalog(), idFromUrl(request.url), caller);
      return Response.json(modelView(model, viewOptions(request)));
    },
    describe: () => ({
      id: "getModel",
      group: "Models",
      summary: "Read one model",
      description: "By id (in any case), alias or `provider/id`; including hidden models.",
      parameters: [pathId("model_id", "The id. Slashes may stand as they are or encoded.", "demo-echo")],
      answer: { description: "The model.", schema: modelSchema() },
      errors: ["model_not_found"],
    }),
  }),
  keyed("GET", "/v1/model/info", {
    handle: (deps, { caller }) => Response.json(modelInfo(allowed(deps.catalog(), caller))),
    describe: () => ({
      id: "listModelInfo",
      group: "Models",
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
    }),
  }),
  keyed("GET", "/v1/tiers", {
    handle: (deps, { caller }) => {
      const listed = allowed(deps.catalog(), caller).filter((model) => model.visibility === "list");
      return Response.json(tiersView(deps.tiers(), listed, caller.tier));
    },
    describe: () => ({
      id: "listTiers",
      group: "Models",
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
                  id: tierSchema(),
                  name: Type.String(),
                  rpm: Type.Integer({ description: "Requests per minute of one key." }),
                  trial_days: orNull(Type.Number({ description: "How long a new account may use it." })),
                  models: Type.Array(Type.String()),
                },
                { $id: "Tier" },
              ),
            ),
            current: tierSchema(),
          },
          { $id: "TierList" },
        ),
      },
    }),
  }),
];

/** The models that the key may use. */
function allowed({ models }: Catalog, caller: ModelAccess): Catalog["models"] {
  return caller.models == null ? models : models.filter((model) => keyMayUse(caller.models, model));
}

function viewOptions({ headers }: Request): ViewOptions {
  return { anthropic: headers.get("anthropic-version") !== null };
}

/** Read from the raw URL: routers differ in what they decode, and an id may contain an encoded slash or percent sign. */
function idFromUrl(url: string): string {
  const from = url.indexOf(MODEL_PATH) + MODEL_PATH.length;
  const ends = [url.indexOf("?", from), url.indexOf("#", from)].filter((at) => at >= 0);
  const raw = url.slice(from, Math.min(url.length, ...ends));
  if (raw.length > ID_CHARS_MAX) throw modelNotFound(raw);
  try {
    return decodeURIComponent(raw);
  } catch {
    // Not percent-encoded: the literal text may be an id.
    return raw;
  }
}
