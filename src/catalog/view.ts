// The public view of a model: the OpenAI Model object plus the members that clients of other families read.

import type { TierId } from "../config/schema.ts";
import type { ModelKind } from "../vendors/model-kind.ts";
import { type AnthropicMembers, anthropicMembers } from "./anthropic-view.ts";
import { KINDS } from "./kinds.ts";
import { asShown, type CatalogModel, type InferredFacts } from "./models.ts";

/** A catalog entry: docs/reference/http-api.md#get-v1models. */
export interface ModelView {
  id: string;
  name: string;
  object: "model";
  owned_by: string;
  provider: string;
  type: ModelKind;
  tier: TierId;
  endpoints: string[];
  capabilities: string[];
  input_modalities: string[];
  output_modalities: string[];
  context_length: number;
  context_window: number;
  max_output_tokens: number;
  max_completion_tokens: number;
  supports_tools: boolean;
  supports_vision: boolean;
  supports_reasoning: boolean;
  description: string;
  visibility: string;
  /** OpenAI: Unix seconds, 0 if unknown. */
  created: number;
  /** Anthropic: the same as a date, and the name. */
  display_name: string;
  created_at: string;
  /** OpenRouter, from here on: prices in dollars per token. */
  pricing: { prompt: string; completion: string; input_cache_read?: string; input_cache_write?: string };
  top_provider: { context_length: number; max_completion_tokens: number; is_moderated: boolean };
  architecture: {
    modality: string;
    input_modalities: string[];
    output_modalities: string[];
    tokenizer: string;
    instruct_type: null;
  };
  supported_parameters: string[];
  canonical_slug: string;
  default_parameters: null;
  per_request_limits: null;
  supported_voices: null;
  /** OpenAI: null, since no date is announced. */
  shutdown_date: null;
  /** The members that are unknown, and shown as a newer or older model of the same family has them. */
  inferred: string[];
  links: { details: string };
}

/** The same for Anthropic's clients, in whose format two members have another meaning. */
export type AnthropicModelView = Omit<ModelView, keyof AnthropicMembers> & AnthropicMembers;

/** A page of models, in the format of all families' clients. There is only one page. */
export interface ModelListView {
  object: "list";
  data: (ModelView | AnthropicModelView)[];
  has_more: false;
  first_id: string | null;
  last_id: string | null;
  total_count: number;
  links: { next: null };
}

/** What depends on the caller. */
export interface ViewOptions {
  /** For Anthropic's clients: with the members of its format, in which `type` is the kind of object. */
  anthropic?: boolean;
}

/** Inferred facts by their names in the view. */
const INFERRED: Readonly<Record<keyof InferredFacts, readonly (keyof ModelView)[]>> = {
  contextLength: ["context_length", "context_window"],
  maxOutputTokens: ["max_output_tokens", "max_completion_tokens"],
  supportsTools: ["supports_tools"],
  supportsVision: ["supports_vision"],
  supportsReasoning: ["supports_reasoning"],
};

/** The catalog entry of one model. */
export function modelView(model: CatalogModel, { anthropic = false }: ViewOptions = {}) {
  const view = commonView(asShown(model));
  return anthropic ? { ...view, ...anthropicMembers(model) } : view;
}

function commonView(model: CatalogModel): ModelView {
  const { endpoints, input, output } = KINDS[model.kind];
  const capabilities = model.kind === "chat" ? ["text"] : [model.kind];
  if (model.supportsVision) capabilities.push("vision");
  if (model.supportsTools) capabilities.push("tool_use");
  if (model.supportsReasoning) capabilities.push("reasoning");
  const modalities = {
    input_modalities: [...input, ...(model.supportsVision ? ["image"] : [])],
    output_modalities: [...output],
  };
  return {
    id: model.id,
    name: model.name,
    object: "model",
    owned_by: model.ownedBy,
    provider: model.ownedBy,
    type: model.kind,
    tier: model.tier,
    endpoints: [...endpoints],
    capabilities,
    ...modalities,
    context_length: model.contextLength,
    context_window: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    max_completion_tokens: model.maxOutputTokens,
    supports_tools: model.supportsTools,
    supports_vision: model.supportsVision,
    supports_reasoning: model.supportsReasoning,
    description: model.description,
    visibility: model.visibility,
    created: model.createdSeconds,
    display_name: model.name,
    created_at: new Date(model.createdSeconds * 1000).toISOString().replace(".000Z", "Z"),
    pricing: pricing(model),
    top_provider: {
      context_length: model.contextLength,
      max_completion_tokens: model.maxOutputTokens,
      is_moderated: false,
    },
    architecture: {
      modality: `${modalities.input_modalities.join("+")}->${output.join("+")}`,
      ...modalities,
      tokenizer: "Other",
      instruct_type: null,
    },
    supported_parameters: supportedParameters(model),
    canonical_slug: model.id,
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
    shutdown_date: null,
    inferred: Object.keys(model.inferred).flatMap((name) => INFERRED[name as keyof InferredFacts]),
    links: { details: `/v1/models/${encodeURIComponent(model.id)}` },
  };
}

/** The body of `GET /v1/models`: listed models only, including those above the caller's plan. */
export function modelListView(models: readonly CatalogModel[], options: ViewOptions = {}): ModelListView {
  const data = models.filter((model) => model.visibility === "list").map((model) => modelView(model, options));
  return {
    object: "list",
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    total_count: data.length,
    links: { next: null },
  };
}

function pricing({ prices }: CatalogModel): ModelView["pricing"] {
  if (prices === undefined) return { prompt: "0", completion: "0" };
  const { input, output, cacheRead, cacheWrite } = prices;
  return {
    prompt: perToken(input),
    completion: perToken(output ?? 0),
    ...(cacheRead === undefined ? {} : { input_cache_read: perToken(cacheRead) }),
    ...(cacheWrite === undefined ? {} : { input_cache_write: perToken(cacheWrite) }),
  };
}

/** Dollars per token in plain digits: clients do not parse exponents. */
function perToken(perMillion: number): string {
  return (perMillion / 1_000_000).toFixed(15).replace(/\.?0+$/, "");
}

/** The parameters of chat completions that this model accepts at every provider. */
function supportedParameters({ kind, supportsTools, supportsReasoning }: CatalogModel): string[] {
  if (kind !== "chat") return [];
  return [
    "max_tokens",
    "max_completion_tokens",
    // Reasoning models of several vendors refuse both.
    ...(supportsReasoning ? ["reasoning", "reasoning_effort"] : ["temperature", "top_p"]),
    "response_format",
    "structured_outputs",
    ...(supportsTools ? ["tools", "tool_choice", "parallel_tool_calls"] : []),
  ];
}
