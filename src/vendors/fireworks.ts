// Fireworks AI. Unknown members are a 400, cache markers among them (musistudio/claude-code-router#377); newer models
// report usage only when asked (langchain-ai/langchain#36977). Source of the list: docs.fireworks.ai/api-reference.

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

export const fireworks: Vendor = {
  name: "fireworks",
  title: "Fireworks AI",
  importNames: ["fireworks_ai"],
  api: {
    kind: "openai",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    domains: ["fireworks.ai"],
    traceName: "fireworks",
    variable: { name: "FIREWORKS_API_KEY", holds: "key", alone: true },
    keyBegins: "fw_",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        developer_role: false,
        refuses: ["service_tier", ...OPENAI_ONLY],
      },
    },
    models: {
      path: "/models",
      facts: {
        contextLength: "context_length",
        supportsTools: "supports_tools",
        supportsVision: "supports_image_input",
      },
      kinds: { chat: "supports_chat" },
    },
    figures: { prices: "fireworks" },
  },
};
