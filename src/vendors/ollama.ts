// Ollama. Source: docs.ollama.com/api/openai-compatibility (its list of request fields); ollama/ollama#15457 and #7881 (every
// call of an answer has index 0, which the reader handles). It ignores unknown members, and base64 is the form of images that
// works best across versions.

import type { Vendor } from "./vendor.ts";

/** Ollama on this machine, or at the address in its own variable. */
export const ollama: Vendor = {
  name: "ollama",
  title: "Ollama",
  importNames: ["ollama_chat"],
  api: {
    kind: "openai",
    baseUrl: "http://127.0.0.1:11434/v1",
    variable: { name: "OLLAMA_HOST", holds: "address", alone: true },
    dialects: { "openai-chat": { max_tokens_field: "max_tokens", image_urls: false, developer_role: false } },
    models: { path: "/models" },
    decisions: { body: { reasoning_effort: "none" }, textOnly: true },
  },
};
