// Ollama. Source: docs.ollama.com/api/openai-compatibility (its list of request fields); ollama/ollama#15457 and #7881
// (every call of an answer has index 0, which the reader copes with).

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Chat completions. It ignores what it does not know, and takes images as base64 most reliably of all versions. */
export const ollama: ProviderCard = {
  name: "ollama",
  dialect: "openai-chat",
  baseUrl: "http://127.0.0.1:11434/v1",
  headers: bearer,
  quirks: { max_tokens_field: "max_tokens", image_urls: false, developer_role: false },
  modelsPath: "/models",
  parseModels: readModels,
};
