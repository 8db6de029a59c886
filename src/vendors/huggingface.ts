// Hugging Face's router to inference providers. Source: huggingface.co/docs/inference-providers (chat completions; `MODEL:PROVIDER`
// chooses the provider) (2026-11). The token is also used for downloads, so it alone does not create a provider.

import type { Vendor } from "./vendor.ts";

export const huggingface: Vendor = {
  name: "huggingface",
  title: "Hugging Face",
  api: {
    kind: "openai",
    baseUrl: "https://router.huggingface.co/v1",
    domains: ["huggingface.co"],
    traceName: "huggingface",
    variable: { name: "HF_TOKEN", holds: "key", alone: false },
    keyBegins: "hf_",
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", developer_role: false } },
    models: {
      path: "/models",
      facts: { supportsVision: { member: "architecture.input_modalities", word: "image" } },
    },
  },
};
