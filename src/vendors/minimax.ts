// MiniMax's models, all of which think.

import type { ModelFamily } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const minimaxModels: ModelFamily = {
  name: "minimax",
  pattern: /minimax-m\d/,
  rules: [
    {
      facts: { reasons: true, reasonsByDefault: true },
      source: "platform.minimax.io/docs/guides/text-m2-function-call",
      seen: "2026-11",
    },
  ],
};

/** MiniMax's models; its API is configured like any chat completions server. */
export const minimax: Vendor = { name: "minimax", title: "MiniMax", families: [minimaxModels] };
