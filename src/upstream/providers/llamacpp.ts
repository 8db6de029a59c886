// llama.cpp's server. Source: github.com/ggml-org/llama.cpp tools/server/README.md (`meta` of the list; images by URL
// need a build with network access, so they go as base64).

import type { ProviderCard } from "../provider.ts";
import { bearer, count, entry, readModels } from "./model-list.ts";

/** Chat completions. */
export const llamacpp: ProviderCard = {
  name: "llamacpp",
  dialect: "openai-chat",
  baseUrl: "http://127.0.0.1:8080/v1",
  headers: bearer,
  quirks: { max_tokens_field: "max_tokens", image_urls: false, developer_role: false },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => {
      const meta = entry(model["meta"]);
      // The window it was started with, where it says so, else what the model was trained for.
      return { contextLength: count(meta["n_ctx"]) ?? count(meta["n_ctx_train"]) };
    }),
};
