// GitHub Models. Source: docs.github.com/rest/models (2026-11). The token is set for other purposes too, so it alone does not create
// a provider.

import type { Vendor } from "./vendor.ts";

export const githubModels: Vendor = {
  name: "github",
  title: "GitHub Models",
  api: {
    kind: "openai",
    baseUrl: "https://models.github.ai/inference",
    domains: ["models.github.ai"],
    traceName: "github",
    variable: { name: "GITHUB_TOKEN", holds: "key", alone: false },
    keyBegins: "github_pat_",
    dialects: { "openai-chat": {} },
    models: {
      path: "/../catalog/models",
      facts: {
        name: "name",
        description: "summary",
        contextLength: "limits.max_input_tokens",
        maxOutputTokens: "limits.max_output_tokens",
        supportsTools: { member: "capabilities", word: "tool-calling" },
        supportsReasoning: { member: "capabilities", word: "reasoning" },
        supportsVision: { member: "supported_input_modalities", word: "image" },
      },
      kinds: {
        chat: { member: "supported_output_modalities", word: "text" },
        embedding: { member: "supported_output_modalities", word: "embeddings" },
      },
    },
  },
};
