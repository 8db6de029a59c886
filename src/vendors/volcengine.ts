// Volcengine Ark. Source: volcengine.com/docs/82379 (chat completions; a model is its name or an endpoint's id `ep-…`) (2026-11).

import type { Vendor } from "./vendor.ts";

export const volcengine: Vendor = {
  name: "volcengine",
  title: "Volcengine Ark",
  api: {
    kind: "openai",
    baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    domains: ["volces.com"],
    traceName: "volcengine",
    variable: { name: "ARK_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false, loop_reasoning: true } },
    note: "A model is its name, or the id of an endpoint (`ep-…`).",
  },
};
