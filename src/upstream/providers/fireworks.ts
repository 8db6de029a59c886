// Fireworks AI. Unknown members are a 400, cache markers among them (musistudio/claude-code-router#377); newer models
// report usage only when asked (langchain-ai/langchain#36977). Source of the list: docs.fireworks.ai/api-reference.

import type { ProviderCard } from "../provider.ts";
import { bearer, count, readModels, truth } from "./model-list.ts";

/** Chat completions. */
export const fireworks: ProviderCard = {
  name: "fireworks",
  dialect: "openai-chat",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  headers: bearer,
  quirks: {
    max_tokens_field: "max_tokens",
    developer_role: false,
    refuses: [
      "store",
      "service_tier",
      "verbosity",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "moderation",
    ],
  },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => ({
      contextLength: count(model["context_length"]),
      supportsTools: truth(model["supports_tools"]),
      supportsVision: truth(model["supports_image_input"]),
      chat: model["supports_chat"] === false ? false : undefined,
    })),
};
