// Mistral, and its models wherever their chat template is used. Parameters it does not know are a 422 (github/app#3299 cites
// its changelog); `stream_options` is one of them and usage comes without it (avante-corp/avante.nvim#2347,
// openai/openai-agents-python#442); call ids must be nine letters and digits (nearai/ironclaw#1241). Model list:
// docs.mistral.ai/api.

import { type Effort, type ModelFamily, version } from "./model-family.ts";
import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

/** Reasoning is on or off. */
const SWITCH: readonly Effort[] = ["none", "high"];
const SWITCHED = {
  reasons: true,
  efforts: SWITCH,
  chatEfforts: SWITCH,
  refuses: [],
} satisfies ModelFamily["rules"][number]["facts"];

/** Releases that are named by a date and are older than the first that reason. */
const EARLIER = ["2312", "2402", "2409", "2501", "2503", "2505", "2506", "2508"];

const mistralModels: ModelFamily = {
  name: "mistral",
  pattern:
    /mistral(?:-(?:small|medium|large))?(?:-(?<major>\d{1,2})(?![\da-z])(?:[-.](?<minor>\d{1,2})(?![\da-z]))?)?|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral/,
  rules: [
    {
      facts: { userAfterTool: false },
      source: "datapizza-labs/datapizza-ai#98, NousResearch/hermes-agent#84944, charmbracelet/crush#279 (code 3230)",
      seen: "2026-11",
    },
    {
      facts: { efforts: [], chatEfforts: [], refuses: ["reasoning_effort", "reasoning"] },
      source: "NousResearch/hermes-agent#11243 (a 422 for all models but the following)",
      seen: "2026-11",
    },
    {
      lines: ["magistral"],
      facts: { reasons: true, reasonsByDefault: true },
      source: "docs.mistral.ai/capabilities/reasoning",
      seen: "2026-11",
    },
    {
      lines: ["mistral-small"],
      not: EARLIER,
      from: version(4),
      facts: SWITCHED,
      source: "mistral.ai/news/mistral-small-4; vercel/ai#13688, anomalyco/models.dev#1986 (tried)",
      seen: "2026-11",
    },
    {
      lines: ["mistral-medium"],
      not: EARLIER,
      from: version(3, 5),
      facts: SWITCHED,
      source: "pydantic/pydantic-ai#5285; anomalyco/models.dev#1986 (tried)",
      seen: "2026-11",
    },
    {
      lines: ["magistral-small-latest"],
      facts: { ...SWITCHED, reasonsByDefault: false },
      source: "anomalyco/models.dev#1986 (tried: it stands for a newer model)",
      seen: "2026-11",
    },
  ],
};

export const mistral: Vendor = {
  name: "mistral",
  title: "Mistral",
  families: [mistralModels],
  api: {
    kind: "openai",
    baseUrl: "https://api.mistral.ai/v1",
    domains: ["mistral.ai"],
    traceName: "mistral_ai",
    variable: { name: "MISTRAL_API_KEY", holds: "key", alone: true },
    dialects: {
      "openai-chat": {
        stream_options: false,
        max_tokens_field: "max_tokens",
        tool_call_ids: "nine",
        developer_role: false,
        // A 422 (BerriAI/litellm#30835): its own thinking is in content parts.
        refuses_reasoning: true,
        refuses: ["seed", "user", "logprobs", "top_logprobs", "logit_bias", "service_tier", ...OPENAI_ONLY],
      },
    },
    models: {
      path: "/models",
      facts: {
        name: "name",
        description: "description",
        contextLength: "max_context_length",
        supportsTools: "capabilities.function_calling",
        supportsVision: "capabilities.vision",
        supportsReasoning: "capabilities.reasoning",
      },
      kinds: { chat: "capabilities.completion_chat" },
    },
    figures: { prices: "mistral" },
  },
};
