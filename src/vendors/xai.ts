// xAI. Only some models take an effort; none that reasons takes stop sequences, and no current one a penalty.

import { type Effort, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const REASONING = "docs.x.ai/developers/model-capabilities/text/reasoning";
/** miaoxworld/NativeTavern#83 (4.3 to 4.6), open-webui/open-webui#21266, lobehub/lobehub#13332 (not reasoning), #7370 (3 mini). */
const PENALTIES = ["presence_penalty", "frequency_penalty"];
/** BerriAI/litellm#12635 (4), #14565 (code), BerriAI/litellm-docs#817 (4.5), lidge-jun/opencodex#5278 (4.6). */
const STOP = ["stop"];
const NO_EFFORT = ["reasoning_effort", "reasoning"];
const LADDER: readonly Effort[] = ["low", "medium", "high"];
const takes = (efforts: readonly Effort[]) => ({ efforts, chatEfforts: efforts, refuses: [...PENALTIES, ...STOP] });

const grok: ModelFamily = {
  name: "grok",
  pattern: /(?:^|[^a-z0-9])grok(?:-[a-z]+)?(?:-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    {
      facts: { ...takes([]), refuses: [...NO_EFFORT, ...PENALTIES, ...STOP] },
      source: `${REASONING}; omnigent-ai/omnigent#1686; langchain-ai/langchain#38335 (stop, grok-3 too)`,
      seen: "2026-11",
    },
    {
      lines: ["grok-3-mini"],
      facts: { reasons: true, reasonsByDefault: true, ...takes(["low", "high"]) },
      source: `${REASONING}; anomalyco/opencode#39448 (low and high only)`,
      seen: "2026-11",
    },
    { from: version(4), facts: { reasons: true, reasonsByDefault: true }, source: REASONING, seen: "2026-11" },
    { lines: ["grok-code"], facts: { reasons: true, reasonsByDefault: true }, source: REASONING, seen: "2026-11" },
    {
      from: version(4, 3),
      before: version(4, 4),
      facts: takes(["none", ...LADDER]),
      source: `${REASONING} (none turns reasoning off)`,
      seen: "2026-11",
    },
    {
      from: version(4, 5),
      not: ["grok-4.20", "grok-code"],
      facts: takes(LADDER),
      source: "mnfst/modelparams.dev#330",
      seen: "2026-11",
    },
    {
      from: version(4, 6),
      not: ["grok-4.20", "grok-code"],
      facts: takes([...LADDER, "xhigh"]),
      source: `${REASONING}; chenyme/grok2api#901`,
      seen: "2026-11",
    },
    {
      lines: ["multi-agent"],
      facts: takes([...LADDER, "xhigh"]),
      source: "openrouter.ai/x-ai/grok-4.20-multi-agent (an effort is a number of agents)",
      seen: "2026-11",
    },
    {
      lines: ["non-reasoning"],
      facts: { reasons: false, reasonsByDefault: false, ...takes([]), refuses: [...NO_EFFORT, ...PENALTIES] },
      source:
        "neavo/LinguaGacha#771 (effort), lobehub/lobehub#13332 (penalties), langchain-ai/langchain#38335 (takes stop)",
      seen: "2026-11",
    },
  ],
};

/** xAI. */
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
        refuses: [...PENALTIES, "logit_bias"],
      },
    },
    models: { path: "/models" },
    figures: { prices: "x-ai", limits: "xai" },
  },
};
