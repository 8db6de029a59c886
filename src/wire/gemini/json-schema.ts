// Google's form of schemas as JSON Schema: types in capitals, `nullable`, and whole numbers as texts.
// Source: ai.google.dev/api/caching#Schema, 2026-11.

import { isRecord } from "../../base/json-object.ts";
import type { Fields } from "../check.ts";

/** Members with one schema, with a list of schemas, and with schemas by name. */
const ONE: ReadonlySet<string> = new Set(["items", "additionalProperties", "not"]);
const LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "defs"]);
/** Bounds, which Google's JSON writes as texts. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);
/** What has no meaning elsewhere. */
const LEFT_OUT: ReadonlySet<string> = new Set(["nullable", "propertyOrdering", "example"]);

/** The schema as JSON Schema. A schema that is one already stays the same. */
export function toJsonSchema(schema: Fields): Fields {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) if (!LEFT_OUT.has(name)) out[name] = member(name, value);
  if (schema["nullable"] !== true) return out;
  const { type, enum: values } = out;
  if (Array.isArray(values) && !values.includes(null)) out["enum"] = [...(values as unknown[]), null];
  if (typeof type === "string") return { ...out, type: [type, "null"] };
  return type === undefined && out["anyOf"] !== undefined ? { anyOf: [out, { type: "null" }] } : out;
}

function member(name: string, value: unknown): unknown {
  if (name === "type" && typeof value === "string") return value.toLowerCase();
  if (COUNTS.has(name) && typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  if (ONE.has(name) && isRecord(value)) return toJsonSchema(value);
  if (LISTS.has(name) && Array.isArray(value))
    return value.map((one: unknown) => (isRecord(one) ? toJsonSchema(one) : one));
  if (!NAMED.has(name) || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, isRecord(one) ? toJsonSchema(one) : one]));
}
