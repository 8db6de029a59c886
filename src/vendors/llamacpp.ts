// llama.cpp's server. Source: github.com/ggml-org/llama.cpp tools/server/README.md (`meta` of the list; images by URL
// need a build with network access, so they go as base64).

import type { Vendor } from "./vendor.ts";

export const llamacpp: Vendor = {
  name: "llamacpp",
  title: "llama.cpp",
  api: {
    kind: "openai",
    baseUrl: "http://127.0.0.1:8080/v1",
    dialects: {
      "openai-chat": { max_tokens_field: "max_tokens", image_urls: false, developer_role: false, loop_reasoning: true },
    },
    // The context size with which the server was started, if it is reported; otherwise that of the model's training.
    models: { path: "/models", facts: { contextLength: ["meta.n_ctx", "meta.n_ctx_train"] } },
    decisions: {
      body: { chat_template_kwargs: { enable_thinking: false }, cache_prompt: true },
      // Requested labels are among these.
      shownTokens: 4096,
    },
  },
};
