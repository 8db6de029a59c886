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
    dialects: { gemini: { image_urls: false } },
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
    figures: { prices: "google", limits: "google" },
  },
};
