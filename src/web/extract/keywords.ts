// The JSON Schema keywords of draft 7 and 2020-12 with their valid values, and the keywords that contain subschemas.

import { isRecord } from "../../base/json-object.ts";

/** The kind of value that a keyword requires. */
export type KeywordShape =
  | "text"
  | "number"
  | "positive"
  | "count"
  | "boolean"
  | "pattern"
  | "type"
  | "list"
  | "values"
  | "names"
  | "names-by-name"
  | "schema"
  | "schemas"
  | "schema-or-schemas"
  | "schema-by-name"
  | "schema-by-pattern"
  | "schema-or-names-by-name";

/** Keywords that are not listed are annotations and may have any value. */
const SHAPES: Readonly<Record<KeywordShape, string>> = {
  text: "$schema $id $ref $anchor $dynamicRef $dynamicAnchor $comment title description format contentEncoding contentMediaType",
  number: "maximum exclusiveMaximum minimum exclusiveMinimum",
  positive: "multipleOf",
  count: "maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains",
  boolean: "uniqueItems readOnly writeOnly deprecated nullable",
  pattern: "pattern",
  type: "type",
  list: "examples",
  values: "enum",
  names: "required",
  "names-by-name": "dependentRequired",
  schema:
    "additionalItems contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties contentSchema",
  schemas: "allOf anyOf oneOf prefixItems",
  "schema-or-schemas": "items",
  "schema-by-name": "properties definitions $defs dependentSchemas",
  "schema-by-pattern": "patternProperties",
  "schema-or-names-by-name": "dependencies",
};

/** Keyword → shape. */
export const KEYWORDS: ReadonlyMap<string, KeywordShape> = new Map(
  Object.entries(SHAPES).flatMap(([shape, words]) =>
    words.split(" ").map((word): [string, KeywordShape] => [word, shape as KeywordShape]),
  ),
);

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

/** A description of the required value if the given one is invalid; undefined if it is valid. Subschemas are not examined. */
export function complaintOf(shape: KeywordShape, value: unknown): string | undefined {
  return CHECKS[shape](value);
}

const expect = (holds: boolean, what: string) => (holds ? undefined : `Expected ${what}.`);

const CHECKS: Readonly<Record<KeywordShape, (value: unknown) => string | undefined>> = {
  text: (value) => expect(typeof value === "string", "a string"),
  number: (value) => expect(typeof value === "number", "a number"),
  positive: (value) => expect(typeof value === "number" && value > 0, "a number above 0"),
  count: (value) => expect(Number.isInteger(value) && (value as number) >= 0, "a whole number, 0 or more"),
  boolean: (value) => expect(typeof value === "boolean", "true or false"),
  pattern: (value) =>
    typeof value !== "string"
      ? expect(false, "a regular expression in a string")
      : expect(isPattern(value), "a regular expression; this one does not parse"),
  type: (value) => {
    const names: unknown[] = Array.isArray(value) ? value : [value];
    const known = names.length > 0 && names.every((name) => typeof name === "string" && TYPES.has(name));
    return expect(known && areDifferent(names), `one or several of ${[...TYPES].join(", ")}`);
  },
  list: (value) => expect(Array.isArray(value), "a list"),
  values: (value) => expect(Array.isArray(value) && value.length > 0, "a list of at least one value"),
  names: (value) => expect(isNames(value), "a list of different names"),
  "names-by-name": (value) =>
    expect(isRecord(value) && Object.values(value).every(isNames), "an object of lists of names"),
  schema: () => undefined,
  schemas: (value) => expect(Array.isArray(value) && value.length > 0, "a list of at least one schema"),
  "schema-or-schemas": () => undefined,
  "schema-by-name": (value) => expect(isRecord(value), "an object whose values are schemas"),
  "schema-by-pattern": (value) => {
    if (!isRecord(value)) return expect(false, "an object whose names are regular expressions and values schemas");
    const broken = Object.keys(value).find((name) => !isPattern(name));
    return expect(broken === undefined, `regular expressions as names; ${JSON.stringify(broken)} does not parse`);
  },
  "schema-or-names-by-name": (value) => expect(isRecord(value), "an object of schemas or of lists of names"),
};

/** Whether a value is a list of distinct names. */
export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string") && areDifferent(value);
}

function areDifferent(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

function isPattern(text: string): boolean {
  try {
    readPattern(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Compiles a `pattern`. Most patterns are written for Unicode mode; those that it forbids, such as `[\w-.]`, are compiled without
 * it. Throws if neither is possible.
 */
export function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, "u");
  } catch {
    return new RegExp(text);
  }
}
