// LM Studio. `tool_choice` must be a word, an object is a 400 (lmstudio-ai/lmstudio-bug-tracker#670); images come as
// base64 only (lmstudio.ai/docs/developer/openai-compat).

import type { Vendor } from "./vendor.ts";

export const lmstudio: Vendor = {
  name: "lmstudio",
  title: "LM Studio",
  importNames: ["lm_studio"],
  api: {
    kind: "openai",
    baseUrl: "http://127.0.0.1:1234/v1",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        image_urls: false,
        tool_choice_words: true,
        developer_role: false,
      },
    },
    models: { path: "/models" },
  },
};
