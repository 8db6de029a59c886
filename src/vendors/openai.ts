// OpenAI. Its models are read from names such as `gpt-5-mini-2025-08-07`, `openai/gpt-5.6-terra` or a deployment called
// `prod-gpt-5`.

import { type Effort, type ModelFamily, version } from "./model-family.ts";
import { NUMBERS, SCHEMA_FORMATS, type SchemaRules, SHAPE, TEXT_KEYWORDS } from "./schema-rules.ts";
import type { Vendor } from "./vendor.ts";

/** The parameters that reasoning excludes. */
const SAMPLING = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "logprobs",
  "top_logprobs",
  "logit_bias",
];

const LADDER: readonly Effort[] = ["low", "medium", "high"];
const TO_XHIGH: readonly Effort[] = ["none", ...LADDER, "xhigh"];
/** Reasoning cannot be turned off. */
const ALWAYS_REASONS = {
  efforts: [...LADDER, "xhigh", "max"],
  chatEfforts: [...LADDER, "xhigh"],
  reasonsByDefault: true,
} satisfies ModelFamily["rules"][number]["facts"];
const SDK = "openai/openai-node ReasoningEffort";
const AZURE = "learn.microsoft.com/azure/foundry/openai/how-to/reasoning";
const MODELS = "developers.openai.com/api/docs/models";

const gpt: ModelFamily = {
  name: "gpt",
  pattern: /(?:^|[^a-z0-9])(?:chat)?gpt-(?<major>\d)(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/,
  rules: [
    { facts: { efforts: [], chatEfforts: [] }, source: AZURE, seen: "2026-11" },
    {
      from: version(5),
      not: ["chat"],
      facts: {
        reasons: true,
        reasonsByDefault: true,
        sampling: "never",
        samplers: SAMPLING,
        refuses: ["stop"],
        efforts: ["minimal", ...LADDER],
        chatEfforts: ["minimal", ...LADDER],
      },
      source: `${AZURE}; ${SDK}`,
      seen: "2026-11",
    },
    {
      from: version(5, 1),
      not: ["chat"],
      facts: { reasonsByDefault: false, sampling: "unless-reasoning", efforts: ["none", ...LADDER] },
      source: `${SDK} (5.1 does not reason unless told to)`,
      seen: "2026-11",
    },
    { from: version(5, 1), not: ["chat"], facts: { chatEfforts: ["none", ...LADDER] }, source: SDK, seen: "2026-11" },
    {
      from: version(5, 2),
      not: ["chat"],
      facts: { efforts: TO_XHIGH, chatEfforts: TO_XHIGH, chatTools: "unless-reasoning" },
      source: `${SDK}; livekit/agents#5088, openai/openai-openapi#541 (tools beside an effort)`,
      seen: "2026-11",
    },
    {
      from: version(5, 5),
      not: ["chat"],
      facts: { reasonsByDefault: true },
      source: "BerriAI/litellm#34569, danny-avila/LibreChat#14355, ItzCrazyKns/Vane#1173; 5.5 read with its successor",
      seen: "2026-11",
    },
    {
      from: version(5, 6),
      not: ["chat"],
      facts: { efforts: [...TO_XHIGH, "max"] },
      source: "anomalyco/opencode#36141; livekit/agents#7169 (chat completions end at xhigh)",
      seen: "2026-11",
    },
    {
      from: version(5, 6),
      facts: { cacheBreakpoints: true },
      source:
        "developers.openai.com/api/docs/guides/prompt-caching (from GPT-5.6 on); openai/openai-node PromptCacheOptions",
      seen: "2026-11",
    },
    {
      lines: ["astra"],
      from: version(6),
      facts: ALWAYS_REASONS,
      source: `${MODELS}/gpt-6-astra; BerriAI/litellm#43935 (none and minimal are refused)`,
      seen: "2026-11",
    },
    {
      lines: ["sol"],
      from: version(6, 1),
      facts: ALWAYS_REASONS,
      source: `${MODELS}/gpt-6.1-sol; BerriAI/litellm#43935`,
      seen: "2026-11",
    },
    {
      from: version(6, 2),
      not: ["chat"],
      facts: ALWAYS_REASONS,
      source: "developers.openai.com/api/docs/guides/latest-model (GPT-6.2); BerriAI/litellm discussion 52347",
      seen: "2026-11",
    },
    {
      lines: ["codex"],
      from: version(5),
      before: version(5, 2),
      facts: { efforts: LADDER, chatEfforts: LADDER, sampling: "never", reasonsByDefault: true },
      source: SDK,
      seen: "2026-11",
    },
    {
      lines: ["codex-max"],
      from: version(5, 1),
      before: version(5, 2),
      facts: { efforts: [...LADDER, "xhigh"], chatEfforts: [...LADDER, "xhigh"] },
      source: SDK,
      seen: "2026-11",
    },
    {
      lines: ["pro"],
      from: version(5),
      before: version(5, 1),
      facts: { efforts: ["high"], chatEfforts: ["high"] },
      source: SDK,
      seen: "2026-11",
    },
    {
      lines: ["codex", "pro"],
      from: version(5),
      facts: { responsesOnly: true },
      source: `${MODELS}/gpt-5-codex, ${MODELS}/gpt-5-pro`,
      seen: "2026-11",
    },
  ],
};

const codex: ModelFamily = {
  name: "codex",
  pattern: /(?:^|[^a-z0-9])codex-/,
  rules: [
    {
      facts: {
        reasons: true,
        reasonsByDefault: true,
        sampling: "never",
        samplers: SAMPLING,
        refuses: ["stop"],
        efforts: LADDER,
        chatEfforts: LADDER,
        responsesOnly: true,
      },
      source: `${MODELS}/codex-mini-latest`,
      seen: "2026-11",
    },
  ],
};

const oSeries: ModelFamily = {
  name: "o-series",
  pattern: /(?:^|[^a-z0-9])o(?<major>[1-9])(?![a-z0-9])/,
  rules: [
    {
      facts: {
        reasons: true,
        reasonsByDefault: true,
        sampling: "never",
        samplers: SAMPLING,
        efforts: LADDER,
        chatEfforts: LADDER,
      },
      source: `${AZURE}; ${SDK}`,
      seen: "2026-11",
    },
    {
      from: version(3),
      facts: { refuses: ["stop"] },
      source: "platform.openai.com/docs/api-reference/chat/create (stop)",
      seen: "2026-11",
    },
    {
      lines: ["pro", "deep-research"],
      facts: { responsesOnly: true },
      source: `${MODELS}/o3-pro, ${MODELS}/o3-deep-research`,
      seen: "2026-11",
    },
  ],
};

const gptOss: ModelFamily = {
  name: "gpt-oss",
  pattern: /gpt-oss/,
  rules: [
    {
      facts: { reasons: true, reasonsByDefault: true, efforts: LADDER, chatEfforts: LADDER },
      source: "github.com/openai/gpt-oss README",
      seen: "2026-11",
    },
  ],
};

/** OpenAI's `strict`, for answers and for tools. */
export const OPENAI_STRICT_SCHEMA: SchemaRules = {
  keywords: new Set([...SHAPE, ...TEXT_KEYWORDS, ...NUMBERS, "const", "format", "pattern", "minItems", "maxItems"]),
  closed: true,
  allRequired: true,
  recursive: true,
  typed: true,
  minItemsMax: Number.POSITIVE_INFINITY,
  formats: new Set(SCHEMA_FORMATS),
  source: "developers.openai.com/api/docs/guides/structured-outputs (supported schemas)",
  seen: "2026-11",
};

/** Parameters of chat completions that other strict vendors refuse as unknown. */
export const OPENAI_ONLY = [
  "store",
  "verbosity",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "moderation",
];

/** OpenAI: chat completions, and Responses with `kind: openai-responses`. */
export const openai = {
  name: "openai",
  title: "OpenAI",
  importNames: ["text-completion-openai"],
  families: [gptOss, gpt, codex, oSeries],
  api: {
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    domains: ["openai.com"],
    traceName: "openai",
    variable: { name: "OPENAI_API_KEY", holds: "key", alone: true },
    keyBegins: "sk-",
    dialects: {
      // `max_tokens` is deprecated there and refused by reasoning models (platform.openai.com/docs/api-reference/chat/create).
      // Completions return no reasoning there, so reasoning in a history comes from another provider.
      "openai-chat": {
        max_tokens_field: "max_completion_tokens",
        custom_tools: true,
        responses: true,
        refuses_reasoning: true,
        metadata_needs_store: true,
        safety_identifier: true,
        cache_breakpoints: true,
        web_search: true,
      },
      // An item of a response that was not stored is looked up by its id and not found.
      "openai-responses": {
        plain_reasoning: false,
        safety_identifier: true,
        cache_breakpoints: true,
        web_search: true,
      },
    },
    models: { path: "/models" },
    figures: {
      prices: "openai",
      limits: "openai",
      // developers.openai.com/api/docs/pricing, 2026-11.
      billing: {
        services: { priority: 2, fast: 2, flex: 0.5, batch: 0.5 },
        perSearch: 0.01,
        models: [
          {
            // They search for each request, and their answers do not say how often.
            id: "^gpt-4o(?:-mini)?-search-preview",
            perSearch: 0,
            perRequest: 0.025,
            source: `developers.openai.com/api/docs/pricing (web search preview, non-reasoning models: $25 for 1,000 calls)`,
            seen: "2026-11",
          },
        ],
      },
      newer: [
        {
          id: "gpt-6.1-sol",
          contextLength: 1_050_000,
          maxOutputTokens: 128_000,
          prices: {
            input: 2,
            output: 10,
            cacheRead: 0.1,
            cacheWrite: 2.5,
            tiers: [{ above: 272_000, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 }],
          },
          source: `${MODELS}/gpt-6.1-sol; docs.litellm.ai/blog/gpt_6_1_sol`,
          seen: "2026-11",
        },
      ],
    },
    decisions: { prices: [{ model: /^gpt-6-luna/, input: 0.1 }] },
  },
} satisfies Vendor;
