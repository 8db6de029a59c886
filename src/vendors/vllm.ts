// vLLM. Source: docs.vllm.ai/en/stable/serving/openai_compatible_server; the list's `max_model_len` is the context size.
// Unknown members are ignored; support of `developer` depends on the model's chat template.

import type { Vendor } from "./vendor.ts";

export const vllm: Vendor = {
  name: "vllm",
  title: "vLLM",
  importNames: ["hosted_vllm"],
  api: {
    kind: "openai",
    baseUrl: "http://127.0.0.1:8000/v1",
    dialects: { "openai-chat": { developer_role: false, loop_reasoning: true } },
    models: { path: "/models", facts: { contextLength: "max_model_len" } },
    decisions: { body: { chat_template_kwargs: { enable_thinking: false } } },
  },
};
