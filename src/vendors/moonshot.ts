// Moonshot: its Kimi models, and its API. Its API fixes the sampling of these models and refuses any other
// (platform.kimi.ai/docs/api/models-overview, Warma10032/VideoAdGuard#34), and a turn with tool calls must bring its
// `reasoning_content` back (continuedev/continue#11806). Servers of the open weights do neither.

import { type Effort, type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const EARLIER: readonly Effort[] = ["minimal", "low", "medium", "high"];
const DEPTHS: readonly Effort[] = ["low", "high", "max"];

const kimi: ModelFamily = {
  name: "kimi",
  pattern: /kimi-k(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/,
  rules: [
    {
      from: version(2, 5),
      facts: { reasons: true, reasonsByDefault: true, efforts: EARLIER, chatEfforts: EARLIER },
      source: "platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart; Kilo-Org/cloud#3807 (efforts)",
      seen: "2026-11",
    },
    {
      from: version(3),
      facts: { efforts: DEPTHS, chatEfforts: DEPTHS },
      source: "platform.kimi.ai/docs/guide/use-reasoning-effort (always reasons); anomalyco/models.dev#4721",
      seen: "2026-11",
    },
  ],
};

const FIXED = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "n"];

export const moonshot: Vendor = {
  name: "moonshot",
  title: "Moonshot",
  families: [kimi],
  api: {
    kind: "openai",
    baseUrl: "https://api.moonshot.ai/v1",
    domains: ["moonshot.ai", "moonshot.cn"],
    traceName: "moonshot_ai",
    variable: { name: "MOONSHOT_API_KEY", holds: "key", alone: true },
    keyBegins: "sk-",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_completion_tokens",
        return_reasoning_content: true,
        developer_role: false,
        refuses_by_model: { "kimi-*": FIXED },
      },
    },
    models: { path: "/models", facts: { contextLength: "context_length", supportsVision: "supports_image_in" } },
    figures: { prices: "moonshotai", limits: "moonshot" },
  },
};
