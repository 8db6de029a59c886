// xAI. All models but grok-3-mini, 4.3, and those from 4.5 on refuse an effort.

import { type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const REASONING = "docs.x.ai/developers/model-capabilities/text/reasoning";
const TAKES = {
  efforts: ["low", "medium", "high"],
  chatEfforts: ["low", "medium", "high"],
  refuses: [],
} satisfies ModelFamily["rules"][number]["facts"];

const grok: ModelFamily = {
  name: "grok",
  pattern: /(?:^|[^a-z0-9])grok(?:-[a-z]+)?(?:-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    {
      facts: { efforts: [], chatEfforts: [], refuses: ["reasoning_effort", "reasoning"] },
      source: `${REASONING}; omnigent-ai/omnigent#1686`,
      seen: "2026-11",
    },
    {
      lines: ["grok-3-mini"],
      facts: { reasons: true, reasonsByDefault: true, ...TAKES },
      source: REASONING,
      seen: "2026-11",
    },
    { from: version(4), facts: { reasons: true, reasonsByDefault: true }, source: REASONING, seen: "2026-11" },
    { lines: ["grok-code"], facts: { reasons: true, reasonsByDefault: true }, source: REASONING, seen: "2026-11" },
    {
      from: version(4, 3),
      before: version(4, 4),
      facts: { ...TAKES, efforts: ["none", ...TAKES.efforts], chatEfforts: ["none", ...TAKES.chatEfforts] },
      source: `${REASONING} (none turns reasoning off)`,
      seen: "2026-11",
    },
    {
      from: version(4, 5),
      not: ["grok-4.20", "grok-code"],
      facts: TAKES,
      source: "mnfst/modelparams.dev#330",
      seen: "2026-11",
    },
    {
      from: version(4, 6),
      not: ["grok-4.20", "grok-code"],
      facts: { efforts: ["low", "medium", "high", "xhigh"], chatEfforts: ["low", "medium", "high", "xhigh"] },
      source: REASONING,
      seen: "2026-11",
    },
  ],
};

/** xAI. All models refuse the penalties (miaoxworld/NativeTavern#83, open-webui/open-webui#21266). */
export const xai: Vendor = {
  name: "xai",
  title: "xAI",
  families: [grok],
  api: {
    kind: "openai",
    baseUrl: "https://api.x.ai/v1",
    domains: ["x.ai"],
    traceName: "x_ai",
    variable: { name: "XAI_API_KEY", holds: "key", alone: true },
    keyBegins: "xai-",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_completion_tokens",
        refuses: ["presence_penalty", "frequency_penalty", "logit_bias"],
      },
    },
    models: { path: "/models" },
    figures: { prices: "x-ai", limits: "xai" },
  },
};
