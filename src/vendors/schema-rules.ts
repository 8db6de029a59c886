// What vendors take of JSON Schema where they hold the model to it. Elsewhere (plain tools) a schema is a description, and
// goes up whole. Data only; upstream/schema-fit.ts applies it.

/** The part of JSON Schema that one vendor enforces; the rest is a 400 there. */
export interface SchemaRules {
  /** Keywords with a meaning for it. */
  keywords: ReadonlySet<string>;
  /** Every object says `additionalProperties: false`, so that objects with names of the model's choice cannot be said. */
  closed: boolean;
  /** Every property is required. */
  allRequired: boolean;
  /** A schema may hold itself. */
  recursive: boolean;
  /** Every schema says its type, or refers to one that does; the outermost is an object. */
  typed: boolean;
  /** The largest `minItems`. */
  minItemsMax: number;
  /** Values of `format` that are known; absent: any may stand there. */
  formats?: ReadonlySet<string>;
  source: string;
  /** Year and month. */
  seen: string;
}

const SHAPE = ["type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"];
const TEXT = ["description", "title"];
const FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** Claude's `output_config.format` and strict tools. */
export const CLAUDE_SCHEMA: SchemaRules = {
  keywords: new Set([...SHAPE, ...TEXT, "const", "allOf", "definitions", "default", "format", "pattern", "minItems"]),
  closed: true,
  allRequired: false,
  recursive: false,
  typed: false,
  minItemsMax: 1,
  formats: new Set([...FORMATS, "uri"]),
  source: "platform.claude.com/docs build-with-claude/structured-outputs; agentjido/req_llm#302, ax-llm/ax#459",
  seen: "2026-11",
};

/** OpenAI's `strict`, for answers and for tools. */
export const OPENAI_STRICT_SCHEMA: SchemaRules = {
  keywords: new Set([...SHAPE, ...TEXT, ...NUMBERS, "const", "format", "pattern", "minItems", "maxItems"]),
  closed: true,
  allRequired: true,
  recursive: true,
  typed: true,
  minItemsMax: Number.POSITIVE_INFINITY,
  formats: new Set(FORMATS),
  source: "developers.openai.com/api/docs/guides/structured-outputs (supported schemas)",
  seen: "2026-11",
};

/** Gemini's `responseJsonSchema`. */
export const GEMINI_SCHEMA: SchemaRules = {
  keywords: new Set([
    ...SHAPE,
    ...TEXT,
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

/** Keywords that bind nothing: where they are not taken nobody misses them. */
export const SCHEMA_NOTES: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$anchor",
  "$comment",
  "title",
  "default",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);
