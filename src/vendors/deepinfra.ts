// DeepInfra. Source: deepinfra.com/docs/openai_api (2026-11).

import type { Vendor } from "./vendor.ts";

export const deepinfra: Vendor = {
  name: "deepinfra",
  title: "DeepInfra",
  api: {
    kind: "openai",
    baseUrl: "https://api.deepinfra.com/v1/openai",
    domains: ["deepinfra.com"],
    traceName: "deepinfra",
    variable: { name: "DEEPINFRA_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      facts: {
        description: "metadata.description",
        contextLength: "metadata.context_length",
        maxOutputTokens: "metadata.max_tokens",
      },
    },
  },
};
