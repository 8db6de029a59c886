// The parts of JSON Schema that a vendor accepts where it enforces a schema; each vendor's file has its rules. Elsewhere
// (plain tools) a schema is a description, and sent unchanged. Data only; upstream/schema-fit.ts applies it.

/** The part of JSON Schema that one vendor enforces; the rest is a 400 there. */
export interface SchemaRules {
  /** Supported keywords. */
  keywords: ReadonlySet<string>;
  /** Every object says `additionalProperties: false`, so objects with arbitrary names cannot be expressed. */
  closed: boolean;
  /** Every property is required. */
  allRequired: boolean;
  /** A schema may be recursive. */
  recursive: boolean;
  /** Every schema has a type, or refers to one that does; the outermost is an object. */
  typed: boolean;
  /** The largest `minItems`. */
  minItemsMax: number;
  /** Supported values of `format`; absent: any. */
  formats?: ReadonlySet<string>;
  source: string;
  /** Year and month. */
  seen: string;
}

/** Keywords of structure, which all vendors support. */
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

/** Keywords without constraints, which can be dropped silently. */
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
