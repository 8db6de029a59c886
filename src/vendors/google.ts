// Google's Gemini models. A name without a version (`gemini-flash-latest`) stands for the newest.

import { type ModelFamily, version } from "./model-family.ts";

const THINKING = "ai.google.dev/gemini-api/docs/thinking";

export const gemini: ModelFamily = {
  name: "gemini",
  pattern: /gemini(?:-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    { facts: { thinking: "none" }, source: THINKING, seen: "2026-11" },
    {
      from: version(2, 5),
      facts: { reasons: true, reasonsByDefault: true, thinking: "budget" },
      source: THINKING,
      seen: "2026-11",
    },
    {
      lines: ["pro"],
      from: version(2, 5),
      facts: { budgetMin: 128 },
      source: `${THINKING} (2.5 Pro cannot stop)`,
      seen: "2026-11",
    },
    {
      from: version(3),
      facts: { thinking: "effort", efforts: ["minimal", "low", "medium", "high"], callIds: true },
      source: `${THINKING}, /gemini-api/docs/gemini-3`,
      seen: "2026-11",
    },
    {
      lines: ["pro"],
      from: version(3),
      facts: { efforts: ["low", "medium", "high"] },
      source: THINKING,
      seen: "2026-11",
    },
    {
      lines: ["pro"],
      from: version(3),
      before: version(3, 1),
      facts: { efforts: ["low", "high"] },
      source: THINKING,
      seen: "2026-11",
    },
  ],
};
