// Anthropic. Sources: platform.claude.com/docs/en/api/models-list and /api/versioning.

import type { ProviderCard } from "../provider.ts";
import { count, entry, readModels, text, truth } from "./model-list.ts";

/** The Messages API. */
export const anthropic: ProviderCard = {
  name: "anthropic",
  dialect: "anthropic-messages",
  baseUrl: "https://api.anthropic.com/v1",
  headers: (secret) => ({ "anthropic-version": "2023-06-01", ...(secret === "" ? {} : { "x-api-key": secret }) }),
  // Other platforms with the same models refuse it (anthropics/skills claude-api/shared/prompt-caching.md, 2026-11).
  quirks: { automatic_cache: true },
  // Signatures are compatible across accounts and clouds (platform.claude.com/docs/en/build-with-claude/extended-thinking).
  portableSeals: true,
  // Twenty a page by default.
  modelsPath: "/models?limit=1000",
  parseModels: (body) =>
    readModels(body, (model) => {
      const capabilities = entry(model["capabilities"]);
      return {
        name: text(model["display_name"]),
        contextLength: count(model["max_input_tokens"]),
        maxOutputTokens: count(model["max_tokens"]),
        supportsVision: truth(entry(capabilities["image_input"])["supported"]),
        supportsReasoning: truth(entry(capabilities["thinking"])["supported"]),
      };
    }),
};
