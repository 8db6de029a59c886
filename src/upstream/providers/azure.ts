// Azure OpenAI by its v1 path: base_url is https://RESOURCE.openai.azure.com/openai/v1 and a model is a deployment's name.
// Source: learn.microsoft.com/azure/foundry/openai/api-version-lifecycle (no api-version from v1 on).

import type { ProviderCard } from "../provider.ts";
import { openai, openaiByResponses } from "./openai.ts";

/** Keys go in `api-key`; Entra ID access tokens, which are JWTs, go as bearer. */
function headers(secret: string): Record<string, string> {
  if (secret === "") return {};
  return secret.startsWith("eyJ") ? { authorization: `Bearer ${secret}` } : { "api-key": secret };
}

/** Chat completions. Its model list names what the region has, not the deployments, so nothing is discovered. */
export const azure: ProviderCard = {
  name: "azure",
  dialect: "openai-chat",
  baseUrl: "",
  headers,
  quirks: { ...openai.quirks, free_model_names: true },
};

/** Responses. */
export const azureByResponses: ProviderCard = {
  ...azure,
  dialect: "openai-responses",
  quirks: { ...openaiByResponses.quirks, free_model_names: true },
};
