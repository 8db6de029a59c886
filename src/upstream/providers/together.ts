// Together AI. Source: docs.together.ai/reference/models-1 (a bare list; `type` tells chat models from the others).

import type { ProviderCard } from "../provider.ts";
import { bearer, count, readModels, text } from "./model-list.ts";

/** Chat completions. */
export const together: ProviderCard = {
  name: "together",
  dialect: "openai-chat",
  baseUrl: "https://api.together.xyz/v1",
  headers: bearer,
  quirks: { max_tokens_field: "max_tokens", developer_role: false },
  modelsPath: "/models",
  parseModels: (body) =>
    readModels(body, (model) => {
      const type = text(model["type"]);
      return {
        name: text(model["display_name"]),
        contextLength: count(model["context_length"]),
        chat: type === undefined || type === "chat" ? undefined : false,
      };
    }),
};
