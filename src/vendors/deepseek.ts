// DeepSeek's models.

import { type Effort, type ModelFamily, version } from "./model-family.ts";

const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export const deepseekModels: ModelFamily = {
  name: "deepseek",
  pattern: /deepseek(?:.*?-v(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    {
      // The vendor reads the words that it does not know as their neighbours.
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
