// The words for what a vendor takes of JSON Schema where it holds the model to it; each vendor's file says what it takes.
// Elsewhere (plain tools) a schema is a description, and goes up whole. Data only; upstream/schema-fit.ts applies it.

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

/** Keywords that give a value its shape, which all vendors know. */
export const SHAPE = [
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "anyOf",
  "$ref",
  "$defs",
];
/** Keywords for people and models. */
export const TEXT_KEYWORDS = ["description", "title"];
/** Values of `format` that most vendors know. */
export const SCHEMA_FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/** Bounds of numbers. */
export const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** Keywords that bind nothing: where they are not taken no one misses them. */
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
