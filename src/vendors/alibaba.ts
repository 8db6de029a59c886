// Alibaba's Qwen models.

import { EFFORTS, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const qwenModels: ModelFamily = {
  name: "qwen",
  pattern: /(?:^|[^a-z0-9])(?:qwen-?(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?|qwq|qwen)/,
  rules: [
    {
      from: version(3),
      not: ["instruct", "coder"],
      facts: { reasons: true },
      source: "qwen.readthedocs.io/en/latest/getting_started/quickstart.html",
      seen: "2026-11",
    },
    {
      from: version(3, 8),
      before: version(1000),
      not: ["instruct", "coder"],
      facts: { reasonsByDefault: true, efforts: EFFORTS, chatEfforts: EFFORTS },
      source: "docs.apiyi.com/en/api-capabilities/qwen-3-8 (each word tried)",
      seen: "2026-11",
    },
    { lines: ["qwq", "qwen-3"], facts: { reasons: true }, source: "qwenlm.github.io/blog/qwq-32b", seen: "2026-11" },
  ],
};

/** Alibaba's Qwen models; its API is configured like any chat completions server. */
export const alibaba: Vendor = { name: "alibaba", title: "Alibaba", families: [qwenModels] };
