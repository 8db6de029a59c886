// A LiteLLM proxy as an upstream. Source: docs.litellm.ai/docs/proxy (2026-11). Its second list has the limits and prices.

import type { Vendor } from "./vendor.ts";

export const litellm: Vendor = {
  name: "litellm",
  title: "LiteLLM proxy",
  importNames: ["litellm_proxy"],
  api: {
    kind: "openai",
    baseUrl: "http://127.0.0.1:4000/v1",
    variable: { name: "LITELLM_API_KEY", holds: "key", alone: false },
    dialects: { "openai-chat": { cache_control: true } },
    models: {
      path: "/models",
      details: {
        path: "/model/info",
        list: {
          id: "model_name",
          pricing: true,
          facts: {
            contextLength: "model_info.max_input_tokens",
            maxOutputTokens: "model_info.max_output_tokens",
            supportsTools: "model_info.supports_function_calling",
            supportsVision: "model_info.supports_vision",
            supportsReasoning: "model_info.supports_reasoning",
          },
        },
      },
    },
    note: "`base_url` is the proxy's address with `/v1`.",
  },
};
