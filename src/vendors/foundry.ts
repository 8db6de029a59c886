// Microsoft Foundry. Sources: learn.microsoft.com/azure/foundry (Claude, v1 API, keyless connections), and what
// `@anthropic-ai/foundry-sdk` 1.1 and openai 7.57 send (2026-11).

import { azure } from "./azure.ts";
import type { Vendor } from "./vendor.ts";

/** Models are called by the names of deployments, which are any text. */
export const foundry: Vendor = {
  name: "foundry",
  title: "Microsoft Foundry",
  api: {
    kind: "openai",
    baseUrl: "",
    variable: { name: "AZURE_API_KEY", holds: "key", alone: false },
    dialects: { ...azure.api?.dialects, "anthropic-messages": {} },
    signsThinking: true,
    cloud: {
      origins: [{ origin: "https://{resource}.openai.azure.com" }],
      places: { resource: { variables: ["ANTHROPIC_FOUNDRY_RESOURCE"] } },
      credential: "entra",
      offers: [
        {
          models: /claude/i,
          protocols: ["anthropic-messages"],
          origin: "https://{resource}.services.ai.azure.com",
          path: "/anthropic/v1",
          example: "claude-sonnet-5",
        },
        { protocols: ["openai-chat", "openai-responses"], path: "/openai/v1", example: "my-deployment" },
      ],
    },
    note: "Needs `resource`; a model is a deployment's name, whose protocol `routes[].protocol` tells where the name does not.",
  },
};
