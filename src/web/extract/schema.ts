// Checks callers' schemas. It refuses those that are too large, too deep, invalid, or that refer to other documents, and names
// the place. A schema that passes can be compiled and has no circular reference.

import { isNestedDeeper } from "../../base/json-depth.ts";
import { isRecord } from "../../base/json-object.ts";
import { complaintOf, isNames, KEYWORDS } from "./keywords.ts";
import { type References, referencesOf } from "./references.ts";
import { escapePointer, SchemaError } from "./schema-error.ts";

/** A schema that is an object. Nested schemas can also be `true` or `false`. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Maximum size as compact JSON in UTF-8. */
const BYTES_MAX = 64 * 1024;
/** Depth of nested schemas. */
const LEVELS_MAX = 32;
/** Maximum depth of all values. Each level of schemas takes up to three, and constants may be nested too. */
const JSON_LEVELS_MAX = LEVELS_MAX * 4;

/** Checks a schema and returns it. Throws `SchemaError`. */
export function checkSchema(schema: unknown): JsonSchema {
  if (!isRecord(schema)) throw new SchemaError("", "Expected a JSON Schema, which must be an object.");
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > BYTES_MAX) throw new SchemaError("", `The schema is larger than ${BYTES_MAX} bytes.`);
  if (isNestedDeeper(text, JSON_LEVELS_MAX)) throw tooDeep("");
  draftOf(schema);
  checkParts(schema, referencesOf(schema));
  return schema;
}

/** The supported drafts of JSON Schema. */
export type Draft = "draft-07" | "2020-12";

/** The draft that the schema names or, if it names none, whose keywords it uses. Throws `SchemaError` for other drafts. */
export function draftOf(schema: JsonSchema): Draft {
  const named = schema["$schema"];
  if (typeof named === "string") {
    if (/json-schema\.org\/draft-0[67]\/schema#?$/.test(named)) return "draft-07";
    if (/json-schema\.org\/draft\/20(?:19-09|20-12)\/schema#?$/.test(named)) return "2020-12";
    throw new SchemaError("/$schema", "This draft is not supported. Write the schema in draft 7 or 2020-12.");
  }
  // In draft 7, a list of schemas is in `items`; 2020-12 uses `prefixItems` for it.
  return /"items":\[/.test(JSON.stringify(schema)) ? "draft-07" : "2020-12";
}

interface Part {
  readonly schema: unknown;
  readonly place: string;
  readonly level: number;
}

/** Checks all nested schemas, including those behind references. */
function checkParts(root: JsonSchema, references: References): void {
  const waiting: Part[] = [{ schema: root, place: "", level: 1 }];
  const seen = new Set<unknown>();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { schema, place, level } = part;
    if (typeof schema === "boolean" || seen.has(schema)) continue;
    if (!isRecord(schema)) throw new SchemaError(place, "Expected a schema: an object, true or false.");
    if (level > LEVELS_MAX) throw tooDeep(place);
    seen.add(schema);
    for (const [word, value] of Object.entries(schema)) waiting.push(...partsOf(word, value, part));
    const target = targetOf(schema, place, references);
    if (target !== undefined) waiting.push({ schema: target, place: `${place}/$ref`, level: 1 });
  }
  const state = new Map<JsonSchema, "open" | "done">();
  for (const schema of seen) refuseCircle(schema as JsonSchema, references, state);
}

/** Checks a keyword and returns its subschemas. */
function partsOf(word: string, value: unknown, { place: above, level }: Part): Part[] {
  const shape = KEYWORDS.get(word);
  if (shape === undefined) return [];
  const place = `${above}/${escapePointer(word)}`;
  const complaint = complaintOf(shape, value);
  if (complaint !== undefined) throw new SchemaError(place, complaint);
  const part = (schema: unknown, name: string | number) => ({
    schema,
    place: `${place}/${escapePointer(String(name))}`,
    level: level + 1,
  });
  switch (shape) {
    case "schema":
      return [{ schema: value, place, level: level + 1 }];
    case "schemas":
      return (value as unknown[]).map(part);
    case "schema-or-schemas":
      return Array.isArray(value) ? value.map(part) : [{ schema: value, place, level: level + 1 }];
    case "schema-by-name":
    case "schema-by-pattern":
      return Object.entries(value as object).map(([name, schema]) => part(schema, name));
    case "schema-or-names-by-name":
      return Object.entries(value as object).flatMap(([name, one]) => (isNames(one) ? [] : [part(one, name)]));
    default:
      return [];
  }
}

/** The target of the schema's reference. Throws if it is not in the schema. */
function targetOf(schema: JsonSchema, place: string, references: References): unknown {
  for (const word of ["$ref", "$dynamicRef"]) {
    const reference = schema[word];
    if (typeof reference !== "string") continue;
    const target = references.follow(schema, reference);
    if (target !== undefined) return target;
    const why = /^#/.test(reference) ? "leads nowhere" : "leads out of the schema, and other documents are not fetched";
    throw new SchemaError(`${place}/${word}`, `The reference ${JSON.stringify(reference.slice(0, 200))} ${why}.`);
  }
  return undefined;
}

const SAME_VALUE_ONE = ["not", "if", "then", "else"];
const SAME_VALUE_LIST = ["allOf", "anyOf", "oneOf"];

/** Refuses references that lead back to the same schema for the same value, since validation would never end. */
function refuseCircle(schema: JsonSchema, references: References, state: Map<JsonSchema, "open" | "done">): void {
  if (state.get(schema) === "done") return;
  if (state.get(schema) === "open") {
    const start = JSON.stringify(schema).slice(0, 200);
    throw new SchemaError("", `A schema refers to itself for the same value, so validation would never end: ${start}`);
  }
  state.set(schema, "open");
  for (const inner of sameValue(schema, references)) refuseCircle(inner, references, state);
  state.set(schema, "done");
}

/** The schemas that apply to the same value as this schema. */
function sameValue(schema: JsonSchema, references: References): JsonSchema[] {
  const named = isRecord(schema["dependentSchemas"]) ? Object.values(schema["dependentSchemas"]) : [];
  const older = isRecord(schema["dependencies"]) ? Object.values(schema["dependencies"]) : [];
  const referred = [schema["$ref"], schema["$dynamicRef"]].map((reference) =>
    typeof reference === "string" ? references.follow(schema, reference) : undefined,
  );
  const lists = SAME_VALUE_LIST.flatMap((word) => (Array.isArray(schema[word]) ? (schema[word] as unknown[]) : []));
  return [...referred, ...lists, ...SAME_VALUE_ONE.map((word) => schema[word]), ...named, ...older].filter(isRecord);
}

function tooDeep(place: string): SchemaError {
  return new SchemaError(place, `The schema is nested deeper than ${LEVELS_MAX} levels.`);
}
