// DeepSeek. Sources: api-docs.deepseek.com/guides/thinking_mode (a turn with tool calls must bring its
// `reasoning_content` back, else 400), /guides/json_mode (json_object only), QuantumNous/new-api#4577.

import { EFFORTS, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const deepseekModels: ModelFamily = {
  name: "deepseek",
  // The names of its distilled models also contain the name of the other family.
  leads: true,
  pattern: /deepseek(?:.*?-v(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    {
      // The vendor maps unknown efforts to the nearest known one.
      facts: { efforts: EFFORTS, chatEfforts: EFFORTS },
      source: "api-docs.deepseek.com/guides/thinking_mode",
      seen: "2026-11",
    },
    {
      from: version(4),
      not: ["deepseek-chat", "coder"],
      facts: { reasons: true },
      source: "api-docs.deepseek.com/guides/thinking_mode",
      seen: "2026-11",
    },
    {
      lines: ["deepseek-reasoner"],
      facts: { refuses: ["logprobs", "top_logprobs"] },
      source: "api-docs.deepseek.com/guides/reasoning_model",
      seen: "2026-11",
    },
  ],
};

export const deepseek: Vendor = {
  name: "deepseek",
  title: "DeepSeek",
  families: [deepseekModels],
  api: {
    kind: "openai",
    baseUrl: "https://api.deepseek.com/v1",
    domains: ["deepseek.com"],
    traceName: "deepseek",
    variable: { name: "DEEPSEEK_API_KEY", holds: "key", alone: true },
    keyBegins: "sk-",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        return_reasoning_content: true,
        json_schema: false,
        developer_role: false,
      },
    },
    models: { path: "/models" },
    figures: { prices: "deepseek", limits: "deepseek" },
  },
};
