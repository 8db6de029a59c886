// MiniMax's models, all of which think.

import type { ModelFamily } from "./model-family.ts";

export const minimax: ModelFamily = {
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
