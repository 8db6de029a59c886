// Anthropic. Sources: platform.claude.com/docs/en/api/models-list and /api/versioning. Its models are read from names such as
// `claude-opus-4-1-20250805`, `claude-3-7-sonnet-latest`, `anthropic/claude-opus-4.8` or
// `us.anthropic.claude-sonnet-4-5-20250929-v1:0`: the API refuses with 400 what an older or newer sibling takes.

import { type ModelFamily, version } from "./model-family.ts";
import { SCHEMA_FORMATS, type SchemaRules, SHAPE, TEXT_KEYWORDS } from "./schema-rules.ts";
import type { Vendor } from "./vendor.ts";

const SKILL = "anthropics/skills claude-api/shared";
const DOCS = "platform.claude.com/docs";

const claude: ModelFamily = {
  name: "claude",
  // A version part has one or two digits, unlike the eight digits of a date.
  pattern: /claude(?:-[a-z]+)?(?:-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?)?/,
  rules: [
    {
      facts: { thinking: "none", efforts: [], signsThinking: true },
      source: `${DOCS} build-with-claude/extended-thinking`,
      seen: "2026-11",
    },
    {
      from: version(3, 7),
      facts: { reasons: true, thinking: "budget" },
      source: `${DOCS} build-with-claude/extended-thinking`,
      seen: "2026-11",
    },
    {
      from: version(4, 1),
      facts: { bothSamplers: false },
      source: "BerriAI/litellm#15097, open-webui/pipelines#546",
      seen: "2026-11",
    },
    {
      lines: ["opus"],
      from: version(4, 1),
      facts: { structured: true },
      source: `${DOCS} build-with-claude/structured-outputs`,
      seen: "2026-11",
    },
    {
      from: version(4, 5),
      facts: { structured: true },
      source: `${DOCS} build-with-claude/structured-outputs`,
      seen: "2026-11",
    },
    {
      from: version(4, 6),
      facts: { thinking: "effort", efforts: ["low", "medium", "high"], prefill: false },
      source: `${SKILL}/model-migration.md (adaptive thinking; a final assistant turn is a 400)`,
      seen: "2026-11",
    },
    {
      lines: ["opus"],
      from: version(4, 6),
      facts: { efforts: ["low", "medium", "high", "max"] },
      source: `${DOCS} build-with-claude/effort`,
      seen: "2026-11",
    },
    {
      from: version(4, 7),
      facts: {
        sampling: "never",
        samplers: ["temperature", "top_p", "top_k"],
        display: true,
        efforts: ["low", "medium", "high", "xhigh", "max"],
      },
      source: `${SKILL}/error-codes.md (sampling parameters and budgets are a 400)`,
      seen: "2026-11",
    },
    {
      from: version(4, 8),
      facts: { lateSystem: true },
      source: `${SKILL}/prompt-caching.md; langchain-ai/langchainjs#11922 lists the models; vercel/ai#15674`,
      seen: "2026-11",
    },
    {
      // Sources disagree about this model. A refused role would be worse than moved text.
      lines: ["sonnet"],
      from: version(5),
      before: version(5, 1),
      facts: { lateSystem: false },
      source: `${SKILL}/prompt-caching.md against langchain-ai/langchainjs#11922`,
      seen: "2026-11",
    },
    {
      from: version(5),
      facts: { reasonsByDefault: true, thinkingOff: "disabled" },
      source: `${SKILL}/model-migration.md (thinks unless told not to)`,
      seen: "2026-11",
    },
    {
      lines: ["fable", "mythos"],
      facts: { reasonsByDefault: true, thinkingOff: "never", forcedTool: false },
      source: `${SKILL}/error-codes.md; ${DOCS} models/fable-5-1/migration-guide`,
      seen: "2026-11",
    },
    {
      from: version(5, 5),
      facts: { thinkingOff: "never", forcedTool: false },
      source: `${DOCS} models/opus-5-5/migration-guide`,
      seen: "2026-11",
    },
    {
      lines: ["sonnet"],
      from: version(5, 5),
      facts: { thinkingOff: "between_tools" },
      source: `${DOCS} models/sonnet-5-5/whats-new-sonnet-5-5`,
      seen: "2026-11",
    },
  ],
};

/** Claude's `output_config.format` and strict tools. */
export const CLAUDE_SCHEMA: SchemaRules = {
  keywords: new Set([
    ...SHAPE,
    ...TEXT_KEYWORDS,
    "const",
    "allOf",
    "definitions",
    "default",
    "format",
    "pattern",
    "minItems",
  ]),
  closed: true,
  allRequired: false,
  recursive: false,
  typed: false,
  minItemsMax: 1,
  formats: new Set([...SCHEMA_FORMATS, "uri"]),
  source: "platform.claude.com/docs build-with-claude/structured-outputs; agentjido/req_llm#302, ax-llm/ax#459",
  seen: "2026-11",
};

/**
 * The price of input that is written to the cache for an hour, as a multiple of the price of input. Only this vendor's protocol
 * reports such input (platform.claude.com/docs/en/build-with-claude/prompt-caching, 2026-11).
 */
export const HOUR_WRITE_FACTOR = 2;

export const anthropic: Vendor = {
  name: "anthropic",
  title: "Anthropic",
  families: [claude],
  api: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    domains: ["anthropic.com"],
    traceName: "anthropic",
    variable: { name: "ANTHROPIC_API_KEY", holds: "key", alone: true },
    keyBegins: "sk-ant-",
    // Other platforms with the same models refuse it (anthropics/skills claude-api/shared/prompt-caching.md, 2026-11).
    dialects: { "anthropic-messages": { automatic_cache: true, web_search: true } },
    // Signatures are compatible across accounts and clouds (platform.claude.com/docs/en/build-with-claude/extended-thinking).
    portableSeals: true,
    signsThinking: true,
    models: {
      // Twenty per page by default.
      path: "/models?limit=1000",
      facts: {
        name: "display_name",
        contextLength: "max_input_tokens",
        maxOutputTokens: "max_tokens",
        supportsVision: "capabilities.image_input.supported",
        supportsReasoning: "capabilities.thinking.supported",
      },
    },
    figures: {
      prices: "anthropic",
      limits: "anthropic",
      // platform.claude.com/docs/en/build-with-claude/fast-mode and /about-claude/pricing, 2026-11.
      billing: {
        services: { fast: 2 },
        perSearch: 0.01,
        models: [
          {
            id: "opus-4[.-][67](?!\\d)",
            services: { fast: 6 },
            source: `${DOCS} build-with-claude/fast-mode (4.6 and 4.7); openrouter.ai/anthropic/claude-opus-4.6-fast`,
            seen: "2026-11",
          },
        ],
      },
    },
  },
};
