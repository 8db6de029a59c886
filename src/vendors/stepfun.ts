// StepFun. Source: platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create (2026-11). `base_url` outside of China:
// https://api.stepfun.ai/v1.

import type { Vendor } from "./vendor.ts";

export const stepfun: Vendor = {
  name: "stepfun",
  title: "StepFun",
  api: {
    kind: "openai",
    baseUrl: "https://api.stepfun.com/v1",
    domains: ["stepfun.com", "stepfun.ai"],
    traceName: "stepfun",
    variable: { name: "STEPFUN_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: { path: "/models" },
  },
};
