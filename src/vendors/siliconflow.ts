// SiliconFlow. Source: docs.siliconflow.com/en/api-reference (2026-11). `base_url` of the platform in China:
// https://api.siliconflow.cn/v1.

import type { Vendor } from "./vendor.ts";

export const siliconflow: Vendor = {
  name: "siliconflow",
  title: "SiliconFlow",
  api: {
    kind: "openai",
    baseUrl: "https://api.siliconflow.com/v1",
    domains: ["siliconflow.com", "siliconflow.cn"],
    traceName: "siliconflow",
    variable: { name: "SILICONFLOW_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: { path: "/models" },
  },
};
