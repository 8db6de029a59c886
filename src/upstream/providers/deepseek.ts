// DeepSeek. Sources: api-docs.deepseek.com/guides/thinking_mode (a turn with tool calls must bring its
// `reasoning_content` back, else 400), /guides/json_mode (json_object only), QuantumNous/new-api#4577.

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Chat completions. */
export const deepseek: ProviderCard = {
  name: "deepseek",
  dialect: "openai-chat",
  baseUrl: "https://api.deepseek.com/v1",
  headers: bearer,
  quirks: {
    max_tokens_field: "max_tokens",
    return_reasoning_content: true,
    json_schema: false,
    developer_role: false,
  },
  modelsPath: "/models",
  parseModels: readModels,
};
