// The top-level fields of a schema's object.

import { isRecord } from "../../base/json-object.ts";
import { referencesOf } from "./references.ts";
import type { JsonSchema } from "./schema.ts";

/** The names of the fields; none if the schema does not describe an object with named fields. */
export function fieldNames(schema: JsonSchema | null): string[] {
  if (schema === null) return [];
  const reference = schema["$ref"];
  const root = typeof reference === "string" ? referencesOf(schema).follow(schema, reference) : schema;
  return isRecord(root) && isRecord(root["properties"]) ? Object.keys(root["properties"]) : [];
}
