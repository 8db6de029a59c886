// Cerebras. Sources: inference-docs.cerebras.ai/resources/openai (a 400 for the refused parameters; system messages have the rank of
// developer ones) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const cerebras: Vendor = {
  name: "cerebras",
  title: "Cerebras",
  api: {
    kind: "openai",
    baseUrl: "https://api.cerebras.ai/v1",
    domains: ["cerebras.ai"],
    traceName: "cerebras",
    variable: { name: "CEREBRAS_API_KEY", holds: "key", alone: true },
    keyBegins: "csk-",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_completion_tokens",
        developer_role: false,
        refuses_reasoning: true,
        refuses: [
          "frequency_penalty",
          "presence_penalty",
          "logit_bias",
          "parallel_tool_calls",
          "metadata",
          ...OPENAI_ONLY,
        ],
      },
    },
    models: { path: "/models" },
    figures: { prices: "cerebras" },
  },
};
