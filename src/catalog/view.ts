// The public face of a model: the specification's Model object, every field and no other.

import type { CatalogModel } from "./models.ts";
import type { TierId } from "./tiers.ts";

/** The chat paths; every chat model answers all of them (contract §3 "catalog fields"). */
const CHAT_ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions"] as const;

/** Spec: Model (catalog entry). */
export interface ModelView {
  id: string;
  name: string;
  object: "model";
  owned_by: string;
  provider: string;
  type: "chat";
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
}

/** The catalog entry of one model. */
export function modelView(model: CatalogModel): ModelView {
  const capabilities = ["text"];
  if (model.supportsVision) capabilities.push("vision");
  if (model.supportsTools) capabilities.push("tool_use");
  if (model.supportsReasoning) capabilities.push("reasoning");
  return {
    id: model.id,
    name: model.name,
    object: "model",
    owned_by: model.ownedBy,
    provider: model.ownedBy,
    type: "chat",
    tier: model.tier,
    endpoints: [...CHAT_ENDPOINTS],
    capabilities,
    input_modalities: model.supportsVision ? ["text", "image"] : ["text"],
    output_modalities: ["text"],
    context_length: model.contextLength,
    context_window: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    max_completion_tokens: model.maxOutputTokens,
    supports_tools: model.supportsTools,
    supports_vision: model.supportsVision,
    supports_reasoning: model.supportsReasoning,
    description: model.description,
    visibility: model.visibility,
  };
}

/** The body of `GET /v1/models`: listed models only, those above the caller's tier included. */
export function modelListView(models: readonly CatalogModel[]): { object: "list"; data: ModelView[] } {
  return { object: "list", data: models.filter((model) => model.visibility === "list").map(modelView) };
}

/** The same list as Anthropic's clients read it: one page, with that family's members beside the common ones. */
export function anthropicListView(models: readonly CatalogModel[]): Record<string, unknown> {
  const { object, data } = modelListView(models);
  const entries = data.map((model) => ({ ...model, type: "model", display_name: model.name, created_at: CREATED }));
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { object, data: entries, has_more: false, ...ends };
}

/** That family says this of models whose day is unknown. */
const CREATED = "1970-01-01T00:00:00Z";
