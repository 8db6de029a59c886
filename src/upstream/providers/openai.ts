// OpenAI: chat completions, and Responses with `kind: openai-responses`.

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Chat completions. */
export const openai: ProviderCard = {
  name: "openai",
  dialect: "openai-chat",
  baseUrl: "https://api.openai.com/v1",
  headers: bearer,
  // `max_tokens` is deprecated there and refused by reasoning models (platform.openai.com/docs/api-reference/chat/create).
  // Completions give no reasoning there: what a history holds of it was made elsewhere.
  quirks: {
    max_tokens_field: "max_completion_tokens",
    custom_tools: true,
    responses: true,
    refuses_reasoning: true,
    metadata_needs_store: true,
  },
  modelsPath: "/models",
  parseModels: readModels,
};

/** Responses. */
export const openaiByResponses: ProviderCard = { ...openai, dialect: "openai-responses", quirks: {} };
