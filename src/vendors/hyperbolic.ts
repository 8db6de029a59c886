// Hyperbolic. Source: docs.hyperbolic.xyz/docs/rest-api (2026-11).

import type { Vendor } from "./vendor.ts";

export const hyperbolic: Vendor = {
  name: "hyperbolic",
  title: "Hyperbolic",
  api: {
    kind: "openai",
    baseUrl: "https://api.hyperbolic.xyz/v1",
    domains: ["hyperbolic.xyz"],
    traceName: "hyperbolic",
    variable: { name: "HYPERBOLIC_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: { path: "/models", facts: { contextLength: "context_length" } },
  },
};
