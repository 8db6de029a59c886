// Looks up parts of an OpenAPI document and validates answers against its schemas.

import Ajv2020 from "ajv/dist/2020";
import { documentPath } from "../../src/docs/document.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";

type Json = Record<string, unknown>;

/** What the document says of an endpoint. */
export function operationOf(document: Json, endpoint: ApiEndpoint): Json {
  const item = (document["paths"] as Record<string, Record<string, Json>>)[documentPath(endpoint)];
  const found = item?.[endpoint.method.toLowerCase()];
  if (found === undefined) throw new Error(`${endpoint.method} ${endpoint.path} is not in the document.`);
  return found;
}

/** The schema with its reference followed. */
export function resolved(document: Json, schema: Json): Json {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string") return schema;
  let at: unknown = document;
  for (const name of $ref.slice(2).split("/")) at = (at as Json)[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  return { ...resolved(document, at as Json), ...rest };
}

/** Says what is wrong with a value that should be as the schema at a place of the document; undefined where nothing is. */
export type Check = (place: readonly string[], value: unknown) => string | undefined;

/** Holds values to a document, of which objects have no members but those that are named, unless it says so. */
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
