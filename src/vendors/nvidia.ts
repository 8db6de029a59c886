// NVIDIA NIM. Source: docs.api.nvidia.com/nim/reference (OpenAI's format; unknown members are a 422) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const nvidia: Vendor = {
  name: "nvidia",
  title: "NVIDIA NIM",
  importNames: ["nvidia_nim"],
  api: {
    kind: "openai",
    baseUrl: "https://integrate.api.nvidia.com/v1",
    domains: ["api.nvidia.com"],
    traceName: "nvidia",
    variable: { name: "NVIDIA_API_KEY", holds: "key", alone: true },
    keyBegins: "nvapi-",
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false, refuses: [...OPENAI_ONLY] } },
    models: { path: "/models" },
  },
};
