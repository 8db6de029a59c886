// GET /v1/model/info: the catalog in LiteLLM's format, from which coding agents read context sizes and prices.

import { asShown, type CatalogModel } from "./models.ts";

/** LiteLLM's names of kinds. */
const MODES: Readonly<Record<CatalogModel["kind"], string>> = {
  chat: "chat",
  embedding: "embedding",
  rerank: "rerank",
  transcription: "audio_transcription",
  speech: "audio_speech",
  image: "image_generation",
};

/** The body: listed models, each with its limits, abilities and prices in dollars per token. */
export function modelInfo(models: readonly CatalogModel[]) {
  const data = models.filter(({ visibility }) => visibility === "list").map(entry);
  return { data };
}

function entry(known: CatalogModel) {
  const model = asShown(known);
  const { prices } = model;
  return {
    model_name: model.id,
    litellm_params: { model: model.id },
    model_info: {
      id: model.id,
      mode: MODES[model.kind],
      max_tokens: model.maxOutputTokens,
      max_input_tokens: model.contextLength,
      max_output_tokens: model.maxOutputTokens,
      supports_vision: model.supportsVision,
      supports_function_calling: model.supportsTools,
      supports_reasoning: model.supportsReasoning,
      supports_prompt_caching: prices?.cacheRead !== undefined,
      input_cost_per_token: perToken(prices?.input),
      output_cost_per_token: perToken(prices?.output),
      cache_read_input_token_cost: perToken(prices?.cacheRead),
      cache_creation_input_token_cost: perToken(prices?.cacheWrite),
    },
  };
}

/** Null if unknown. */
function perToken(perMillion: number | undefined): number | null {
  return perMillion === undefined ? null : perMillion / 1_000_000;
}
