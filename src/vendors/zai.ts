// Z.ai, where Zhipu's GLM models are served outside of China. Sources: docs.z.ai/api-reference/llm/chat-completion and
// /guides/capabilities/struct-output (json_object only) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const zai: Vendor = {
  name: "zai",
  title: "Z.ai",
  api: {
    kind: "openai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    domains: ["z.ai"],
    traceName: "zai",
    variable: { name: "ZAI_API_KEY", holds: "key", alone: true },
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        developer_role: false,
        json_schema: false,
        loop_reasoning: true,
        refuses: [
          "n",
          "seed",
          "logprobs",
          "top_logprobs",
          "logit_bias",
          "frequency_penalty",
          "presence_penalty",
          ...OPENAI_ONLY,
        ],
      },
    },
    models: { path: "/models" },
    figures: { prices: "zai" },
  },
};
