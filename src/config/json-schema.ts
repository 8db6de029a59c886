// The configuration's file form as JSON Schema for editors. Slightly more permissive than the reader: where a value may be
// interpolated, any text with `${` is valid.

import { OptionalKind, type TSchema } from "@sinclair/typebox";
import type { Annotations, KnownNames } from "./fields.ts";
import { ConfigFile } from "./schema.ts";

/** The schema's file name beside a configuration file. */
export const JSON_SCHEMA_FILE = "sallyport.schema.json";

type Json = { readonly [key: string]: unknown };

const INTERPOLATED = "\\$\\{";
const DURATION = "^\\s*\\d+(\\.\\d+)?(ms|s|m|h|d)\\s*$";
const SIZE = "^\\s*\\d+(\\.\\d+)?(B|KiB|MiB|GiB|KB|MB|GB)\\s*$";

/** The JSON Schema (draft 7, which editors know best). */
export function configJsonSchema(names: KnownNames): Json {
  const root = convert(ConfigFile, names);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "sallyport.yaml",
    ...root,
    properties: {
      $schema: { type: "string", description: "Location of this schema, for editors." },
      ...(root["properties"] as Json),
    },
  };
}

/** Its text as written to a file. */
export function configJsonSchemaText(names: KnownNames): string {
  return `${JSON.stringify(configJsonSchema(names), undefined, 2)}\n`;
}

function convert(schema: TSchema, names: KnownNames): Json {
  const node = schema as TSchema & Annotations;
  const words = {
    ...(node.description === undefined ? {} : { description: node.description }),
    // An empty group or list as default is not informative.
    ...(node.default === undefined || typeof node.default === "object" ? {} : { default: node.default }),
  };
  if (node.properties !== undefined) {
    const keys = Object.entries(node.properties);
    const needed = keys.filter(([, key]) => key["default"] === undefined && key[OptionalKind] !== "Optional");
    return {
      ...words,
      // A group whose keys are all commented out is null in YAML, and treated as absent.
      type: node.default === undefined && schema[OptionalKind] !== "Optional" ? "object" : ["object", "null"],
      properties: Object.fromEntries(keys.map(([key, child]) => [key, convert(child, names)])),
      ...(needed.length === 0 ? {} : { required: needed.map(([key]) => key) }),
      additionalProperties: false,
    };
  }
  if (node.patternProperties !== undefined) {
    const [pattern = "", value] = Object.entries(node.patternProperties)[0] ?? [];
    const child = value === undefined ? {} : convert(value, names);
    return {
      ...words,
      type: ["object", "null"],
      patternProperties: { [pattern]: child },
      ...(node.names === undefined ? {} : { propertyNames: { enum: names[node.names] } }),
      additionalProperties: false,
    };
  }
  if (node.type === "array") {
    return {
      ...words,
      type: node.default === undefined ? "array" : ["array", "null"],
      items: node.items === undefined ? {} : convert(node.items, names),
      ...(node.minItems === undefined ? {} : { minItems: node.minItems }),
    };
  }
  const known = node.names === undefined ? node : { ...node, enum: names[node.names] };
  return { ...words, ...scalar(known) };
}

function scalar(node: TSchema & Annotations): Json {
  const text = (pattern: string) => ({ type: "string", pattern: `${pattern}|${INTERPOLATED}` });
  const orInterpolated = (own: Json) => ({ anyOf: [own, { type: "string", pattern: INTERPOLATED }] });
  if (node.enum !== undefined) return orInterpolated({ enum: [...node.enum] });
  if (node.format === "duration") return text(DURATION);
  if (node.format === "size") return text(SIZE);
  if (node.type === "string")
    return node.blank === true ? { type: ["string", "null"] } : { type: "string", minLength: 1 };
  if (node.type === undefined) return {};
  const { minimum, maximum } = node;
  return orInterpolated({
    type: node.type,
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  });
}
