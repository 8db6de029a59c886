// Google. Source of the API: ai.google.dev/api/models. A model's name without a version (`gemini-flash-latest`) means the
// newest.

import { type ModelFamily, version } from "./model-family.ts";
import { type SchemaRules, SHAPE, TEXT_KEYWORDS } from "./schema-rules.ts";
import type { Vendor } from "./vendor.ts";

const THINKING = "ai.google.dev/gemini-api/docs/thinking";

const geminiModels: ModelFamily = {
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
      from: version(3, 7),
      facts: { efforts: ["low", "medium", "high"] },
      source: "docs.cloud.google.com/gemini-enterprise-agent-platform guides/gemini-3-8-flash (no minimal)",
      seen: "2026-11",
    },
    {
      // A name without a version may stand for an older model, which refuses the highest level.
      from: version(4),
      before: version(1000),
      facts: { efforts: ["low", "medium", "high", "xhigh"] },
      source: "docs.cloud.google.com/gemini-enterprise-agent-platform guides/gemini-4-hydrogen; BerriAI/litellm#52060",
      seen: "2026-11",
    },
    {
      lines: ["pro"],
      from: version(3),
      before: version(3, 7),
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

/** What the reasons mean for which an answer ends early. `STOP` and unknown ones are normal ends. */
export const GEMINI_ENDS = [
  {
    word: /^MAX_TOKENS$/,
    means: "length",
    source: "ai.google.dev/api/generate-content (FinishReason)",
    seen: "2026-11",
  },
  {
    // The end of a segment of 65,536 tokens: the answer goes on, but only in another request. That one reads the prompt again and
    // is billed for it, beyond what a budget has reserved for this request, so the client decides whether to go on.
    word: /^CONTINUATION$/,
    means: "length",
    source: "@google/genai 3.1.0 FinishReason; docs.cloud.google.com guides/gemini-4-hydrogen",
    seen: "2026-11",
  },
  {
    word: /^(?:SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|NO_IMAGE|IMAGE_[A-Z_]+)$/,
    means: "content_filter",
    source: "ai.google.dev/api/generate-content (FinishReason)",
    seen: "2026-11",
  },
  {
    // The answer is withheld by a policy of the vendor or of its customer.
    word: /^(?:ESCALATION|PUP_LIMITED_DISABLED|MODEL_ARMOR)$/,
    means: "content_filter",
    source: "@google/genai 3.3.0 FinishReason",
    seen: "2026-11",
  },
] as const;

/** Gemini's `responseJsonSchema`. */
export const GEMINI_SCHEMA: SchemaRules = {
  keywords: new Set([
    ...SHAPE,
    ...TEXT_KEYWORDS,
    "$id",
    "$anchor",
    "format",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "oneOf",
    "propertyOrdering",
  ]),
  closed: false,
  allRequired: false,
  recursive: true,
  typed: false,
  minItemsMax: Number.POSITIVE_INFINITY,
  source: "ai.google.dev/api/generate-content (GenerationConfig.responseJsonSchema)",
  seen: "2026-11",
};

/** Google's Gemini API: generateContent and streamGenerateContent. */
export const google: Vendor = {
  name: "gemini",
  title: "Google Gemini",
  families: [geminiModels],
  api: {
    kind: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    domains: ["googleapis.com"],
    traceName: "gcp.gemini",
    variable: { name: "GEMINI_API_KEY", holds: "key", alone: true },
    keyBegins: "AIza",
    // It only accepts URLs of its own files (ai.google.dev/gemini-api/docs/image-understanding).
    dialects: { gemini: { image_urls: false, web_search: true } },
    models: {
      // Fifty per page by default.
      path: "/models?pageSize=1000",
      id: ["name", "id"],
      idPrefix: "models/",
      facts: {
        name: "displayName",
        description: "description",
        contextLength: "inputTokenLimit",
        maxOutputTokens: "outputTokenLimit",
        supportsReasoning: "thinking",
      },
      kinds: {
        chat: { member: "supportedGenerationMethods", word: "generateContent" },
        embedding: { member: "supportedGenerationMethods", word: "embedContent" },
      },
    },
    figures: {
      prices: "google",
      limits: "google",
      // Its cloud has them too.
      spellings: [{ from: "^google/", to: "" }],
      makers: [
        {
          vendor: "anthropic",
          from: "^(?:anthropic/)?(claude-[^@]+)(?:@.*)?$",
          to: "$1",
          priced: {
            surcharge: {
              addresses: "^https://(?!aiplatform\\.googleapis\\.com)",
              models: "claude-(?!(?:opus|sonnet|haiku)-4(?:-[01])?(?:[@-]?20\\d{6})?$|\\d)",
              factor: 1.1,
            },
            source:
              "platform.claude.com/docs/en/about-claude/pricing (third-party platforms), cloud.google.com/vertex-ai/generative-ai/pricing",
            seen: "2026-11",
          },
        },
        { vendor: "openai", from: "^((?:gpt-|o\\d).*)$", to: "$1" },
      ],
      // ai.google.dev/gemini-api/docs/optimization ("75% to 100% more" for priority) and /pricing, 2026-11.
      billing: {
        services: { priority: 2, flex: 0.5 },
        perSearch: 0.014,
        models: [
          {
            // By prompt, however many queries the answer is grounded on.
            id: "^gemini-(?:1|2)(?:[.-]|$)",
            perSearch: 0,
            perSearchedRequest: 0.035,
            source:
              "ai.google.dev/gemini-api/docs/pricing (2.5 and older: $35 for 1,000 grounded prompts); iyulab/TokenMeter v0.13.0",
            seen: "2026-11",
          },
        ],
      },
    },
  },
};
