// Groq. Sources: console.groq.com/docs/openai (unsupported fields are a 400), fanenr/chatbot#21 (`store`), sipeed/picoclaw#1196
// (`prompt_cache_key`); `reasoning_content` in messages is refused too, so it is not returned (janhq/jan#8136).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const groq: Vendor = {
  name: "groq",
  title: "Groq",
  api: {
    kind: "openai",
    baseUrl: "https://api.groq.com/openai/v1",
    domains: ["groq.com"],
    traceName: "groq",
    variable: { name: "GROQ_API_KEY", holds: "key", alone: true },
    keyBegins: "gsk_",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_completion_tokens",
        refuses_reasoning: true,
        refuses: ["logprobs", "top_logprobs", "logit_bias", "metadata", ...OPENAI_ONLY],
      },
    },
    models: {
      path: "/models",
      facts: { contextLength: "context_window", maxOutputTokens: "max_completion_tokens" },
      active: "active",
    },
    figures: { prices: "groq" },
  },
};
