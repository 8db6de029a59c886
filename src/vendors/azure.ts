// Azure OpenAI by its v1 path. Source: learn.microsoft.com/azure/foundry/openai/api-version-lifecycle (no api-version from v1
// on). Keys go in `api-key`; Entra ID access tokens, which are JWTs, go as bearer.

import { openai } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

/** Azure has the same requirements as OpenAI's own API. */
const { dialects: openaiDialects } = openai.api;

/** Azure OpenAI. Its model list contains the models of the region, not the deployments, so nothing is discovered. */
export const azure: Vendor = {
  name: "azure",
  title: "Azure OpenAI",
  importNames: ["azure_ai"],
  api: {
    kind: "openai",
    baseUrl: "",
    pathBelowHost: "/openai/v1",
    domains: ["openai.azure.com", "services.ai.azure.com"],
    traceName: "azure.ai.openai",
    variable: { name: "AZURE_OPENAI_API_KEY", holds: "key", alone: false },
    dialects: {
      "openai-chat": { ...openaiDialects["openai-chat"], free_model_names: true },
      "openai-responses": { ...openaiDialects["openai-responses"], free_model_names: true },
    },
    auth: { header: "api-key", tokensBegin: "eyJ" },
    figures: {
      prices: "azure",
      makers: [
        {
          vendor: "openai",
          from: "^((?:gpt-|o\\d).*)$",
          to: "$1",
          exact: true,
          priced: { source: "azure.microsoft.com/pricing/details/azure-openai (global deployments)", seen: "2026-11" },
        },
        {
          vendor: "anthropic",
          from: "^(claude-.*)$",
          to: "$1",
          exact: true,
          priced: {
            source: "platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry",
            seen: "2026-11",
          },
        },
      ],
    },
    note: "`base_url` is `https://RESOURCE.openai.azure.com/openai/v1`; a model is a deployment's name.",
  },
};
