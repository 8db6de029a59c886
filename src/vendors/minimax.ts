// MiniMax's models, all of which think.

import { type Effort, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const DEPTHS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

const minimaxModels: ModelFamily = {
  name: "minimax",
  pattern: /minimax-m(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/,
  rules: [
    {
      facts: { reasons: true, reasonsByDefault: true },
      source: "platform.minimax.io/docs/guides/text-m2-function-call",
      seen: "2026-11",
    },
    {
      // Thinking cannot be turned off.
      from: version(3, 1),
      facts: { efforts: DEPTHS, chatEfforts: DEPTHS },
      source: "platform.minimax.io/docs/guides/text-generation (effort)",
      seen: "2026-11",
    },
  ],
};

/** MiniMax's models; its API is configured like any chat completions server. */
export const minimax: Vendor = { name: "minimax", title: "MiniMax", families: [minimaxModels] };
