// xAI. All models refuse the penalties (miaoxworld/NativeTavern#83, open-webui/open-webui#21266).

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Chat completions. */
export const xai: ProviderCard = {
  name: "xai",
  dialect: "openai-chat",
  baseUrl: "https://api.x.ai/v1",
  headers: bearer,
  quirks: {
    max_tokens_field: "max_completion_tokens",
    refuses: ["presence_penalty", "frequency_penalty", "logit_bias"],
  },
  modelsPath: "/models",
  parseModels: readModels,
};
