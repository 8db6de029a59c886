// Moonshot's Kimi models.

import { type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const kimi: ModelFamily = {
  name: "kimi",
  pattern: /kimi-k(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/,
  rules: [
    {
      from: version(2, 5),
      facts: { reasons: true, reasonsByDefault: true },
      source: "platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart",
      seen: "2026-11",
    },
  ],
};

/** Moonshot's Kimi models; its API is configured like any chat completions server. */
export const moonshot: Vendor = { name: "moonshot", title: "Moonshot", families: [kimi] };
