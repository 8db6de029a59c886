// Voyage AI: embeddings and rerank. Sources: docs.voyageai.com/reference/embeddings-api and /reranker-api (2026-11). It has no model
// list.

import type { Vendor } from "./vendor.ts";

export const voyage: Vendor = {
  name: "voyage",
  title: "Voyage AI",
  api: {
    kind: "openai",
    baseUrl: "https://api.voyageai.com/v1",
    domains: ["voyageai.com"],
    traceName: "voyage",
    variable: { name: "VOYAGE_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { embeddings: "voyage", rerank: "voyage" } },
    figures: { prices: "voyageai" },
    note: "Embeddings and rerank. Lists no models: configure those that are used.",
  },
};
