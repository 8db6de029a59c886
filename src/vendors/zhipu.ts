// Zhipu's GLM models.

import { EFFORTS, type Effort, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const DEPTHS: readonly Effort[] = ["low", "high", "max"];

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
    {
      // The vendor reads each as one of its own.
      from: version(5, 2),
      facts: { efforts: EFFORTS, chatEfforts: EFFORTS },
      source: "docs.z.ai (reasoning_effort, from GLM-5.2 on); nesquena/hermes-webui exp-v0.52.105",
      seen: "2026-11",
    },
    {
      // Words for "off" are read as the greatest depth.
      from: version(5, 3),
      facts: { efforts: DEPTHS, chatEfforts: DEPTHS },
      source: "openrouter.ai/z-ai/glm-5.3 (cannot be disabled); ceulen-dev/ceulen v0.23.0 (tried)",
      seen: "2026-11",
    },
  ],
};

/** Zhipu's GLM models; its API is configured like any chat completions server. */
export const zhipu: Vendor = { name: "zhipu", title: "Zhipu", families: [glm] };
