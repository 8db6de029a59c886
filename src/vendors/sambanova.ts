// SambaNova. Source: docs.sambanova.ai/docs/en/features/openai-compatibility (the refused parameters have no effect there) (2026-11).

import type { Vendor } from "./vendor.ts";

export const sambanova: Vendor = {
  name: "sambanova",
  title: "SambaNova",
  api: {
    kind: "openai",
    baseUrl: "https://api.sambanova.ai/v1",
    domains: ["sambanova.ai"],
    traceName: "sambanova",
    variable: { name: "SAMBANOVA_API_KEY", holds: "key", alone: true },
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        developer_role: false,
        refuses: ["frequency_penalty", "presence_penalty", "logit_bias"],
      },
    },
    models: {
      path: "/models",
      pricing: true,
      facts: { contextLength: "context_length", maxOutputTokens: "max_completion_tokens" },
    },
  },
};
