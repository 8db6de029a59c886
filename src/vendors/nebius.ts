// Nebius Token Factory. Source: docs.tokenfactory.nebius.com (models with `verbose`) (2026-11).

import type { Vendor } from "./vendor.ts";

export const nebius: Vendor = {
  name: "nebius",
  title: "Nebius",
  api: {
    kind: "openai",
    baseUrl: "https://api.tokenfactory.nebius.com/v1",
    domains: ["nebius.com"],
    traceName: "nebius",
    variable: { name: "NEBIUS_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models?verbose=true",
      pricing: true,
      facts: { name: "name", description: "description", contextLength: "context_length" },
    },
  },
};
