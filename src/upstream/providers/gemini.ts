// Google's Gemini API. Source: ai.google.dev/api/models.

import type { ProviderCard } from "../provider.ts";
import { count, holds, readModels, text, truth } from "./model-list.ts";

/** generateContent and streamGenerateContent. */
export const gemini: ProviderCard = {
  name: "gemini",
  dialect: "gemini",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  headers: (secret): Record<string, string> => (secret === "" ? {} : { "x-goog-api-key": secret }),
  // Of the URLs it takes only its own files' (ai.google.dev/gemini-api/docs/image-understanding).
  quirks: { image_urls: false },
  // Fifty a page by default.
  modelsPath: "/models?pageSize=1000",
  parseModels: (body) =>
    readModels(body, (model) => {
      const chats = holds(model["supportedGenerationMethods"], "generateContent");
      return {
        id: text(model["name"])?.replace(/^models\//, ""),
        name: text(model["displayName"]),
        description: text(model["description"]),
        contextLength: count(model["inputTokenLimit"]),
        maxOutputTokens: count(model["outputTokenLimit"]),
        supportsReasoning: truth(model["thinking"]),
        chat: chats === false ? false : undefined,
      };
    }),
};
