// OpenAI: chat completions, and Responses with `kind: openai-responses`.

import type { ProviderCard } from "../provider.ts";
import { bearer, readModels } from "./model-list.ts";

/** Reasoning models answer 400 to these (learn.microsoft.com/azure/foundry/openai/how-to/reasoning names them). */
const SAMPLING = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "logprobs",
  "top_logprobs",
  "logit_bias",
];

/** gpt-5-chat and everything from gpt-5.1 on take sampling parameters again (with effort `none`), so they are not named. */
const refuses_by_model = {
  "o1*": SAMPLING,
  "o3*": SAMPLING,
  "o4-mini*": SAMPLING,
  "gpt-5": SAMPLING,
  "gpt-5-20*": SAMPLING,
  "gpt-5-mini*": SAMPLING,
  "gpt-5-nano*": SAMPLING,
  "gpt-5-pro*": SAMPLING,
  "gpt-5-codex*": SAMPLING,
};

/** Chat completions. */
export const openai: ProviderCard = {
  name: "openai",
  dialect: "openai-chat",
  baseUrl: "https://api.openai.com/v1",
  headers: bearer,
  // `max_tokens` is deprecated there and refused by reasoning models (platform.openai.com/docs/api-reference/chat/create).
  quirks: { max_tokens_field: "max_completion_tokens", custom_tools: true, refuses_by_model },
  modelsPath: "/models",
  parseModels: readModels,
};

/** Responses. */
export const openaiByResponses: ProviderCard = { ...openai, dialect: "openai-responses", quirks: { refuses_by_model } };
