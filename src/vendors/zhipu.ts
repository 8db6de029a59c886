// Zhipu's GLM models.

import { type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const glm: ModelFamily = {
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

/** Zhipu's GLM models; its API is configured like any chat completions server. */
export const zhipu: Vendor = { name: "zhipu", title: "Zhipu", families: [glm] };
