// Looks up parts of an OpenAPI document and validates answers against its schemas.

import Ajv2020 from "ajv/dist/2020";
import { documentPath } from "../../src/docs/document.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";

type Json = Record<string, unknown>;

/** The description of an endpoint in the document. */
export function operationOf(document: Json, endpoint: ApiEndpoint): Json {
  const item = (document["paths"] as Record<string, Record<string, Json>>)[documentPath(endpoint)];
  const found = item?.[endpoint.method.toLowerCase()];
  if (found === undefined) throw new Error(`${endpoint.method} ${endpoint.path} is not in the document.`);
  return found;
}

/** The schema after following its reference. */
export function resolved(document: Json, schema: Json): Json {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string") return schema;
  let at: unknown = document;
  for (const name of $ref.slice(2).split("/")) at = (at as Json)[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  return { ...resolved(document, at as Json), ...rest };
}

/** Describes how a value differs from the schema at a place in the document; undefined if it does not. */
export type Check = (place: readonly string[], value: unknown) => string | undefined;

/**
 * Validates values against a document. Objects may have only the members that their schema names, unless it allows
 * others.
 */
export function checker(document: Json): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(closed(document) as Json, "document");
  return (place, value) => {
    const pointer = place.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
    const validate = ajv.getSchema(`document#/${pointer}`);
    if (validate === undefined) return `the document has no ${place.join(" › ")}`;
    return validate(value) ? undefined : ajv.errorsText(validate.errors).slice(0, 500);
  };
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const out: Json = {};
  for (const [name, member] of Object.entries(value)) out[name] = closed(member);
  if (out["type"] === "object" && "properties" in out && !("additionalProperties" in out)) {
    out["additionalProperties"] = false;
  }
  return out;
}
