// Vercel AI Gateway. Source: vercel.com/docs/ai-gateway/openai-compat (2026-11).

import type { Vendor } from "./vendor.ts";

export const vercel: Vendor = {
  name: "vercel",
  title: "Vercel AI Gateway",
  importNames: ["vercel_ai_gateway"],
  api: {
    kind: "openai",
    baseUrl: "https://ai-gateway.vercel.sh/v1",
    domains: ["ai-gateway.vercel.sh"],
    traceName: "vercel",
    variable: { name: "AI_GATEWAY_API_KEY", holds: "key", alone: true },
    keyBegins: "vck_",
    dialects: { "openai-chat": {} },
    models: {
      path: "/models",
      facts: {
        name: "name",
        description: "description",
        contextLength: "context_window",
        maxOutputTokens: "max_tokens",
        supportsTools: { member: "tags", word: "tool-use" },
        supportsVision: { member: "tags", word: "vision" },
        supportsReasoning: { member: "tags", word: "reasoning" },
      },
      kinds: {
        chat: { member: "type", word: "language" },
        embedding: { member: "type", word: "embedding" },
        image: { member: "type", word: "image" },
      },
    },
  },
};
