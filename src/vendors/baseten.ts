// Baseten's model APIs. Source: docs.baseten.co/development/model-apis (2026-11).

import type { Vendor } from "./vendor.ts";

export const baseten: Vendor = {
  name: "baseten",
  title: "Baseten",
  api: {
    kind: "openai",
    baseUrl: "https://inference.baseten.co/v1",
    domains: ["baseten.co"],
    traceName: "baseten",
    variable: { name: "BASETEN_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      pricing: true,
      facts: {
        name: "name",
        contextLength: "context_length",
        maxOutputTokens: "max_completion_tokens",
        supportsTools: { member: "supported_features", word: "tools" },
      },
    },
    figures: { prices: "baseten" },
  },
};
