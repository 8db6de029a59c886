// Converts a JSON Schema to one that a vendor accepts. Unsupported keywords move into the description, where the model reads
// them. A schema whose structure cannot be expressed is not replaced by a different one; the caller is told instead.

import { inOneOrder, isRecord } from "../base/json-object.ts";
import { OPENAI_STRICT_SCHEMA } from "../vendors/openai.ts";
import { SCHEMA_NOTES, type SchemaRules } from "../vendors/schema-rules.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema that the vendor accepts. */
export interface FittedSchema {
  schema: Schema;
  /** Whether a part of it became description, so that the vendor does not enforce that part. */
  told: boolean;
}

/** Maximum depth. Vendors refuse deeper schemas anyway. */
const DEPTH_MAX = 64;

/** The schema by the vendor's rules; undefined if its structure cannot be expressed. */
export function fitSchema(schema: Schema, rules: SchemaRules): FittedSchema | undefined {
  if (!rules.recursive && holdsItself(schema)) return undefined;
  const fit = new Fit(rules);
  const fitted = fit.node(schema, 0);
  return fitted === undefined || !fit.possible ? undefined : { schema: fitted, told: fit.told };
}

/**
 * A schema and its `strict` in a combination that OpenAI allows. The schema is strict only if nothing is lost, since strict
 * schemas cannot have optional properties. `relaxed` means that strict was requested and is not possible.
 */
export function strictOrPlain(
  schema: Schema,
  strict: boolean | undefined,
): { schema: Schema; strict?: boolean; relaxed?: true } {
  if (strict !== true) return strict === undefined ? { schema } : { schema, strict };
  const fitted = fitSchema(schema, OPENAI_STRICT_SCHEMA);
  return fitted === undefined || fitted.told
    ? { schema, strict: false, relaxed: true }
    : { schema: fitted.schema, strict };
}

/** Keywords that contain schemas: several by name, one, or a list. */
const BY_NAME = new Set(["properties", "$defs", "definitions"]);
const ONE = new Set(["items", "additionalProperties"]);
const SEVERAL = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

class Fit {
  readonly #rules: SchemaRules;
  told = false;
  possible = true;

  constructor(rules: SchemaRules) {
    this.#rules = rules;
  }

  node(value: unknown, depth: number): Schema | undefined {
    if (value === true) return {};
    if (!isSchema(value) || depth > DEPTH_MAX) return this.#impossible();
    if (this.#rules.typed && !isTyped(value, depth)) this.#impossible();
    const out: Record<string, unknown> = {};
    const words: string[] = [];
    for (const [key, inner] of Object.entries(value)) {
      const name = key === "oneOf" && !this.#rules.keywords.has(key) ? "anyOf" : key;
      // A reference to another document would lead nowhere.
      const away = key === "$ref" && !String(inner).startsWith("#");
      if (away || (key === "definitions" && !this.#rules.keywords.has(key))) this.#impossible();
      if (name === "const" && !this.#rules.keywords.has(name) && value["enum"] === undefined) out["enum"] = [inner];
      else if (this.#takes(name, inner)) out[name] = this.#inner(name, inner, depth);
      else if (!SCHEMA_NOTES.has(key)) words.push(`${key}: ${JSON.stringify(inner)}`);
    }
    if (words.length > 0) {
      this.told = true;
      const said = typeof value["description"] === "string" ? `${value["description"]}\n` : "";
      out["description"] = `${said}(${words.join(", ")})`;
    }
    if (this.#isObject(value)) this.#close(value, out);
    return out;
  }

  #takes(name: string, value: unknown): boolean {
    if (!this.#rules.keywords.has(name)) return false;
    if (name === "format") return this.#rules.formats?.has(String(value)) !== false;
    return name !== "minItems" || (typeof value === "number" && value <= this.#rules.minItemsMax);
  }

  #inner(name: string, value: unknown, depth: number): unknown {
    if (BY_NAME.has(name) && isSchema(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.node(one, depth + 1)]));
    }
    if (SEVERAL.has(name) && Array.isArray(value)) return value.map((one) => this.node(one, depth + 1));
    return ONE.has(name) && isSchema(value) ? this.node(value, depth + 1) : value;
  }

  #isObject({ type, properties }: Schema): boolean {
    return type === "object" || properties !== undefined || (Array.isArray(type) && type.includes("object"));
  }

  #close({ properties, additionalProperties, required }: Schema, out: Record<string, unknown>): void {
    if (this.#rules.closed) {
      // The model chooses the names of these properties.
      if (isSchema(additionalProperties) || (properties === undefined && additionalProperties !== false)) {
        this.#impossible();
      }
      out["additionalProperties"] = false;
    }
    if (this.#rules.allRequired) {
      const names = new Set(Array.isArray(required) ? required : []);
      if (Object.keys(isSchema(properties) ? properties : {}).some((name) => !names.has(name))) this.#impossible();
    }
  }

  #impossible(): undefined {
    this.possible = false;
  }
}

function isSchema(value: unknown): value is Schema {
  return isRecord(value);
}

function isTyped(schema: Schema, depth: number): boolean {
  if (depth === 0) return schema["type"] === "object";
  return ["type", "anyOf", "oneOf", "$ref", "enum", "const"].some((word) => schema[word] !== undefined);
}

/** Whether the references in a schema lead back to itself. */
function holdsItself(root: Schema): boolean {
  const entered = new Set<string>();
  const checked = new Set<string>();
  const visit = (value: unknown, depth: number): boolean => {
    if (typeof value !== "object" || value === null || depth > DEPTH_MAX * 2) return false;
    const ref = isSchema(value) ? value["$ref"] : undefined;
    if (typeof ref === "string" && ref.startsWith("#")) {
      if (ref === "#" || entered.has(ref)) return true;
      if (!checked.has(ref)) {
        entered.add(ref);
        if (visit(at(root, ref), depth + 1)) return true;
        entered.delete(ref);
        checked.add(ref);
      }
    }
    return Object.entries(value).some(([key, inner]) => !DEFINITIONS.has(key) && visit(inner, depth + 1));
  };
  return visit(root, 0);
}

const DEFINITIONS = new Set(["$defs", "definitions", "enum", "const", "default", "examples"]);

function at(root: Schema, ref: string): unknown {
  let here: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    here = isSchema(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

/** Keywords that may be at the top of a tool's schema in place of properties. */
const COMBINED = ["anyOf", "oneOf", "allOf"] as const;

/**
 * A tool's parameters as an object with properties, the only form that vendors accept at the top. It has the properties of all
 * alternatives; a property is required if all alternatives require it, and the original rule is in the description.
 */
export function toolSchema(parameters: Schema): Schema {
  if (!COMBINED.some((word) => Array.isArray(parameters[word]))) return parameters;
  const { anyOf, oneOf, allOf, ...rest } = parameters;
  const properties: Record<string, unknown> = {};
  const list = (value: unknown) => (Array.isArray(value) ? value : []);
  const every = list(allOf).filter(isSchema);
  const some = [...list(anyOf), ...list(oneOf)].filter(isSchema);
  for (const [name, said] of propertiesOf([...some, ...every, rest])) {
    properties[name] = said.length === 1 ? said[0] : { anyOf: said };
  }
  const [first, ...others] = some.map((one) => new Set<unknown>(list(one["required"])));
  const shared = [...(first ?? [])].filter((name) => others.every((names) => names.has(name)));
  const required = new Set([...list(rest["required"]), ...every.flatMap((one) => list(one["required"])), ...shared]);
  const rule = JSON.stringify({ anyOf, oneOf, allOf });
  const said = typeof rest["description"] === "string" ? `${rest["description"]}\n` : "";
  const description = `${said}The whole must match this JSON Schema: ${rule}`;
  return { ...rest, type: "object", properties, required: [...required], description };
}

/**
 * The schemas of each property, merged over the alternatives, which often have a property of the same name that tells them apart.
 */
function propertiesOf(schemas: readonly Schema[]): [name: string, said: unknown[]][] {
  // By their JSON, since there may be thousands of alternatives.
  const out = new Map<string, Map<string, unknown>>();
  for (const { properties } of schemas) {
    for (const [name, schema] of Object.entries(isSchema(properties) ? properties : {})) {
      const said = out.get(name) ?? new Map<string, unknown>();
      const text = inOneOrder(schema);
      if (!said.has(text)) said.set(text, schema);
      out.set(name, said);
    }
  }
  return [...out].map(([name, said]) => [name, [...said.values()]]);
}
