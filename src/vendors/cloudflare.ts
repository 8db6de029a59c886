// Cloudflare Workers AI. Sources: developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility and
// /api/resources/ai/subresources/models (2026-11).

import type { Vendor } from "./vendor.ts";

export const cloudflare: Vendor = {
  name: "cloudflare",
  title: "Cloudflare Workers AI",
  api: {
    kind: "openai",
    baseUrl: "",
    domains: ["api.cloudflare.com"],
    traceName: "cloudflare",
    variable: { name: "CLOUDFLARE_API_TOKEN", holds: "key", alone: false },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      list: "result",
      id: ["name", "id"],
      facts: { description: "description" },
      kinds: {
        chat: { member: "task.name", word: "Text Generation" },
        embedding: { member: "task.name", word: "Text Embeddings" },
        image: { member: "task.name", word: "Text-to-Image" },
        transcription: { member: "task.name", word: "Automatic Speech Recognition" },
        speech: { member: "task.name", word: "Text-to-Speech" },
      },
    },
    figures: { prices: "cloudflare" },
    cloud: {
      origins: [{ origin: "https://api.cloudflare.com" }],
      places: { resource: { variables: ["CLOUDFLARE_ACCOUNT_ID"] } },
      credential: "key",
      offers: [
        {
          protocols: ["openai-chat"],
          path: "/client/v4/accounts/{resource}/ai/v1",
          example: "@cf/openai/gpt-oss-120b",
        },
      ],
      list: "/client/v4/accounts/{resource}/ai/models/search?per_page=1000",
    },
    note: "Needs `resource`, the id of the account.",
  },
};
