// LM Studio. `tool_choice` must be a word, an object is a 400 (lmstudio-ai/lmstudio-bug-tracker#670); images come as
// base64 only (lmstudio.ai/docs/developer/openai-compat).

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Chat completions. */
export const lmstudio: ProviderCard = {
  name: "lmstudio",
  dialect: "openai-chat",
  baseUrl: "http://127.0.0.1:1234/v1",
  headers: bearer,
  quirks: { max_tokens_field: "max_tokens", image_urls: false, tool_choice_words: true, developer_role: false },
  modelsPath: "/models",
  parseModels: readModels,
};
