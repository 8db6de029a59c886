// Groq. Sources: console.groq.com/docs/openai (unsupported fields are a 400), fanenr/chatbot#21 (`store`), sipeed/picoclaw#1196 (`prompt_cache_key`);
// `reasoning_content` in messages is refused too, so it is not returned (janhq/jan#8136).

import type { ProviderCard } from "../provider.ts";
import { bearer, chatUnless, count, readModels, text } from "./model-list.ts";

/** Chat completions. */
export const groq: ProviderCard = {
  name: "groq",
  dialect: "openai-chat",
  baseUrl: "https://api.groq.com/openai/v1",
  headers: bearer,
  quirks: {
    max_tokens_field: "max_completion_tokens",
    refuses_reasoning: true,
    refuses: [
      "logprobs",
      "top_logprobs",
      "logit_bias",
      "store",
      "verbosity",
      "metadata",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "moderation",
    ],
  },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => ({
      ...chatUnless(text(model["id"]) ?? ""),
      contextLength: count(model["context_window"]),
      maxOutputTokens: count(model["max_completion_tokens"]),
      ...(model["active"] === false ? { chat: false } : {}),
    })),
};
