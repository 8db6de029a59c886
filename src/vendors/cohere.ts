// Cohere. Sources: docs.cohere.com/docs/compatibility-api (chat completions and embeddings; `stream_options` and unknown members are
// a 422), /reference/list-models, /reference/rerank (version 2 beside the compatible paths) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const cohere: Vendor = {
  name: "cohere",
  title: "Cohere",
  importNames: ["cohere_chat"],
  api: {
    kind: "openai",
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    domains: ["cohere.ai", "cohere.com"],
    traceName: "cohere",
    variable: { name: "COHERE_API_KEY", holds: "key", alone: true },
    dialects: {
      "openai-chat": {
        stream_options: false,
        max_tokens_field: "max_tokens",
        developer_role: false,
        refuses_reasoning: true,
        rerank: "cohere",
        rerank_path: "/../../v2/rerank",
        refuses: [
          "n",
          "user",
          "logit_bias",
          "top_logprobs",
          "parallel_tool_calls",
          "service_tier",
          "metadata",
          ...OPENAI_ONLY,
        ],
      },
    },
    models: {
      path: "/../../v1/models?page_size=1000",
      id: ["name", "id"],
      facts: {
        contextLength: "context_length",
        supportsTools: { member: "features", word: "tools" },
        supportsVision: { member: "features", word: "vision" },
      },
      kinds: {
        chat: { member: "endpoints", word: "chat" },
        embedding: { member: "endpoints", word: "embed" },
        rerank: { member: "endpoints", word: "rerank" },
      },
    },
    figures: { prices: "cohere" },
  },
};
