// Perplexity. Sources: docs.perplexity.ai/docs/sonar/openai-compatibility and /api-reference/chat-completions-post (the models search by
// themselves and call no tools; `citations` and `search_results` stand beside `choices`; there is no model list) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const perplexity: Vendor = {
  name: "perplexity",
  title: "Perplexity",
  api: {
    kind: "openai",
    baseUrl: "https://api.perplexity.ai",
    domains: ["perplexity.ai"],
    traceName: "perplexity",
    variable: { name: "PERPLEXITY_API_KEY", holds: "key", alone: true },
    keyBegins: "pplx-",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        developer_role: false,
        refuses: [
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "n",
          "seed",
          "user",
          "logprobs",
          "top_logprobs",
          "logit_bias",
          "service_tier",
          "metadata",
          ...OPENAI_ONLY,
        ],
      },
    },
    figures: { prices: "perplexity" },
  },
};
