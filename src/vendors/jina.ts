// Jina AI: embeddings and rerank. Source: jina.ai/embeddings and jina.ai/reranker (2026-11).

import type { Vendor } from "./vendor.ts";

export const jina: Vendor = {
  name: "jina",
  title: "Jina AI",
  importNames: ["jina_ai"],
  api: {
    kind: "openai",
    baseUrl: "https://api.jina.ai/v1",
    domains: ["jina.ai"],
    traceName: "jina",
    variable: { name: "JINA_API_KEY", holds: "key", alone: false },
    keyBegins: "jina_",
    dialects: { "openai-chat": { embeddings: "jina" } },
    note: "Embeddings and rerank. Lists no models: configure those that are used.",
  },
};
