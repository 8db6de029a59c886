// OpenRouter. Source: openrouter.ai/docs/models and /docs/api-reference/overview.

import type { ProviderCard } from "../provider.ts";
import { bearer, count, entry, holds, readModels, text } from "./model-list.ts";

/** Chat completions in front of many vendors. */
export const openrouter: ProviderCard = {
  name: "openrouter",
  dialect: "openai-chat",
  baseUrl: "https://openrouter.ai/api/v1",
  headers: bearer,
  // Hands Anthropic's cache markers on (openrouter.ai/docs/features/prompt-caching).
  quirks: { cache_control: true, usage_include: true },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => {
      const architecture = entry(model["architecture"]);
      const parameters = model["supported_parameters"];
      const writes = holds(architecture["output_modalities"], "text");
      return {
        name: text(model["name"]),
        description: text(model["description"]),
        contextLength: count(model["context_length"]),
        maxOutputTokens: count(entry(model["top_provider"])["max_completion_tokens"]),
        supportsTools: holds(parameters, "tools"),
        supportsVision: holds(architecture["input_modalities"], "image"),
        supportsReasoning: holds(parameters, "reasoning"),
        chat: writes === false ? false : undefined,
      };
    }),
};
