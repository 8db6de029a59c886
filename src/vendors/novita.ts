// Novita. Source: novita.ai/docs/api-reference/model-apis-llm-list-models (2026-11).

import type { Vendor } from "./vendor.ts";

export const novita: Vendor = {
  name: "novita",
  title: "Novita",
  api: {
    kind: "openai",
    baseUrl: "https://api.novita.ai/openai/v1",
    domains: ["novita.ai"],
    traceName: "novita",
    variable: { name: "NOVITA_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      facts: {
        name: ["display_name", "title"],
        description: "description",
        contextLength: "context_size",
        maxOutputTokens: "max_output_tokens",
        supportsTools: { member: "features", word: "function-calling" },
        supportsReasoning: { member: "features", word: "reasoning" },
        supportsVision: { member: "input_modalities", word: "image" },
      },
    },
    figures: { prices: "novita" },
  },
};
