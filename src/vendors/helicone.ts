// Helicone's gateway as an upstream. Source: docs.helicone.ai/gateway/overview (2026-11).

import type { Vendor } from "./vendor.ts";

export const helicone: Vendor = {
  name: "helicone",
  title: "Helicone",
  api: {
    kind: "openai",
    baseUrl: "https://ai-gateway.helicone.ai/v1",
    domains: ["helicone.ai"],
    traceName: "helicone",
    variable: { name: "HELICONE_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { cache_control: true } },
    models: { path: "/models" },
  },
};
