// Mistral. Parameters it does not know are a 422 (github/app#3299 cites its changelog); `stream_options` is one of them
// and usage comes without it (avante-corp/avante.nvim#2347, openai/openai-agents-python#442); call ids must be nine
// letters and digits (nearai/ironclaw#1241). Model list: docs.mistral.ai/api.

import type { ProviderCard } from "../provider.ts";
import { bearer, count, entry, readModels, text, truth } from "./model-list.ts";

/** Chat completions. */
export const mistral: ProviderCard = {
  name: "mistral",
  dialect: "openai-chat",
  baseUrl: "https://api.mistral.ai/v1",
  headers: bearer,
  quirks: {
    stream_options: false,
    max_tokens_field: "max_tokens",
    tool_call_ids: "nine",
    developer_role: false,
    // A 422 (BerriAI/litellm#30835): its own thinking stands in content parts.
    refuses_reasoning: true,
    refuses: [
      "seed",
      "user",
      "store",
      "logprobs",
      "top_logprobs",
      "logit_bias",
      "service_tier",
      "verbosity",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "moderation",
    ],
  },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => {
      const can = entry(model["capabilities"]);
      return {
        name: text(model["name"]),
        description: text(model["description"]),
        contextLength: count(model["max_context_length"]),
        supportsTools: truth(can["function_calling"]),
        supportsVision: truth(can["vision"]),
        supportsReasoning: truth(can["reasoning"]),
        chat: can["completion_chat"] === false ? false : undefined,
      };
    }),
};
