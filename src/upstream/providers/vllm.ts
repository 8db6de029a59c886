// vLLM. Source: docs.vllm.ai/en/stable/serving/openai_compatible_server; the list's `max_model_len` is the window.

import type { ProviderCard } from "../provider.ts";
import { bearer, chatUnless, count, readModels, text } from "./model-list.ts";

/** Chat completions. Unknown members are ignored; `developer` depends on the model's chat template. */
export const vllm: ProviderCard = {
  name: "vllm",
  dialect: "openai-chat",
  baseUrl: "http://127.0.0.1:8000/v1",
  headers: bearer,
  quirks: { developer_role: false },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => ({
      ...chatUnless(text(model["id"]) ?? ""),
      contextLength: count(model["max_model_len"]),
    })),
};
