// Together AI. Source: docs.together.ai/reference/models-1 (a bare list; `type` distinguishes chat models).

import type { Vendor } from "./vendor.ts";

export const together: Vendor = {
  name: "together",
  title: "Together AI",
  importNames: ["together_ai"],
  api: {
    kind: "openai",
    baseUrl: "https://api.together.xyz/v1",
    domains: ["together.xyz", "together.ai"],
    traceName: "together",
    variable: { name: "TOGETHER_API_KEY", holds: "key", alone: true },
    keyBegins: "tgp_",
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      facts: { name: "display_name", contextLength: "context_length" },
      kinds: {
        chat: { member: "type", word: "chat" },
        embedding: { member: "type", word: "embedding" },
        rerank: { member: "type", word: "rerank" },
        image: { member: "type", word: "image" },
        speech: { member: "type", word: "audio" },
        transcription: { member: "type", word: "transcribe" },
      },
    },
    figures: { prices: "together" },
  },
};
