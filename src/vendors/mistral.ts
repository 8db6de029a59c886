// Mistral's models, at Mistral and wherever their chat template is used.

import type { ModelFamily } from "./model-family.ts";

export const mistralModels: ModelFamily = {
  name: "mistral",
  pattern: /mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral/,
  rules: [
    {
      facts: { userAfterTool: false },
      source: "datapizza-labs/datapizza-ai#98, NousResearch/hermes-agent#84944, charmbracelet/crush#279 (code 3230)",
      seen: "2026-11",
    },
    {
      lines: ["magistral"],
      facts: { reasons: true, reasonsByDefault: true },
      source: "docs.mistral.ai/capabilities/reasoning",
      seen: "2026-11",
    },
  ],
};
