// OpenRouter. Source: openrouter.ai/docs/models and /docs/api-reference/overview.

import type { Vendor } from "./vendor.ts";

/** An API in the format of chat completions that forwards requests to many vendors. */
export const openrouter: Vendor = {
  name: "openrouter",
  title: "OpenRouter",
  api: {
    kind: "openai",
    baseUrl: "https://openrouter.ai/api/v1",
    domains: ["openrouter.ai"],
    traceName: "openrouter",
    variable: { name: "OPENROUTER_API_KEY", holds: "key", alone: true },
    keyBegins: "sk-or-",
    // Forwards the cache markers of Anthropic and OpenAI (openrouter.ai/docs/features/prompt-caching, OpenRouterTeam/typescript-sdk
    // PromptCacheBreakpoint).
    dialects: {
      "openai-chat": {
        cache_control: true,
        cache_breakpoints: true,
        usage_include: true,
        route_wishes: true,
        web_search: true,
      },
    },
    models: {
      path: "/models",
      pricing: true,
      facts: {
        name: "name",
        description: "description",
        contextLength: "context_length",
        maxOutputTokens: "top_provider.max_completion_tokens",
        supportsTools: { member: "supported_parameters", word: "tools" },
        supportsVision: { member: "architecture.input_modalities", word: "image" },
        supportsReasoning: { member: "supported_parameters", word: "reasoning" },
      },
      kinds: {
        chat: { member: "architecture.output_modalities", word: "text" },
        image: { member: "architecture.output_modalities", word: "image" },
        embedding: { member: "architecture.output_modalities", word: "embeddings" },
      },
    },
    figures: { prices: "openrouter", limits: { everyone: true } },
    decisions: { body: { reasoning: { enabled: false }, provider: { require_parameters: true } } },
  },
};
