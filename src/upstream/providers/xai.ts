// xAI. Sources: docs.x.ai/developers/model-capabilities/text/reasoning; all models refuse the penalties
// (miaoxworld/NativeTavern#83, open-webui/open-webui#21266); `reasoning_effort` is refused by all but grok-3-mini, 4.3 and
// from 4.5 on (omnigent-ai/omnigent#1686, mnfst/modelparams.dev#330).

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

const EFFORT = ["reasoning_effort", "reasoning"];

/** Chat completions. */
export const xai: ProviderCard = {
  name: "xai",
  dialect: "openai-chat",
  baseUrl: "https://api.x.ai/v1",
  headers: bearer,
  quirks: {
    max_tokens_field: "max_completion_tokens",
    refuses: ["presence_penalty", "frequency_penalty", "logit_bias"],
    refuses_by_model: {
      "grok-3": EFFORT,
      "grok-3-fast*": EFFORT,
      "grok-4": EFFORT,
      "grok-4-*": EFFORT,
      "grok-4.20*": EFFORT,
      "grok-code*": EFFORT,
    },
  },
  modelsPath: "/models",
  parseModels: readModels,
};
