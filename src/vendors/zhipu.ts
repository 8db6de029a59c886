// Zhipu's GLM models.

import { type ModelFamily, version } from "./model-family.ts";

export const glm: ModelFamily = {
  name: "glm",
  pattern: /(?:^|[^a-z0-9])glm-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/,
  rules: [
    {
      from: version(4, 5),
      facts: { reasons: true, reasonsByDefault: true },
      source: "docs.z.ai/guides/capabilities/thinking-mode",
      seen: "2026-11",
    },
  ],
};
