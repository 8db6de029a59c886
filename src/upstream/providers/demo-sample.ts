// Creates a value that a JSON Schema accepts, for the tool calls of the demo model: defaults, examples and enums if there are
// any, otherwise the simplest value within the bounds.

import { lookUp } from "../../base/look-up.ts";
import { asList, asNumber, asRecord, asText } from "../dialects/loose.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Maximum depth, for recursive schemas. */
const DEPTH_MAX = 8;
/** Maximum number of values, since recursive lists and objects grow with every level. */
const VALUES_MAX = 2000;

/** The state while one sample is created. */
interface Sample {
  readonly root: unknown;
  left: number;
}

/** A value for a schema. The keywords that tool schemas use are supported; others are ignored. */
export function sampleOf(schema: unknown): unknown {
  return made(schema, { root: schema, left: VALUES_MAX }, 0);
}

function made(schema: unknown, sample: Sample, depth: number): unknown {
  if (depth > DEPTH_MAX || --sample.left < 0) return {};
  const own = resolve(schema, sample.root);
  for (const key of ["const", "default"]) if (own[key] !== undefined) return own[key];
  for (const key of ["enum", "examples"]) {
    const list = own[key];
    if (Array.isArray(list) && list.length > 0) return list[0];
  }
  for (const key of ["anyOf", "oneOf"]) {
    const list = own[key];
    if (Array.isArray(list) && list.length > 0) return made(list[0], sample, depth + 1);
  }
  if (Array.isArray(own["allOf"])) {
    const parts = own["allOf"].map((part) => resolve(part, sample.root));
    const properties = Object.assign({}, own["properties"], ...parts.map((part) => part["properties"]));
    const required = [own, ...parts].flatMap((part) => asList(part["required"]));
    const { allOf: _allOf, ...rest } = own;
    return made(Object.assign({}, ...parts, rest, { properties, required }), sample, depth + 1);
  }
  return valueOfType(own, sample, depth);
}

function resolve(given: unknown, root: unknown): Schema {
  const schema = asRecord(given);
  const ref = schema["$ref"];
  if (typeof ref !== "string" || !/^#(?:\/|$)/.test(ref)) return schema;
  let at: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? lookUp(at as Schema, key) : undefined;
  }
  return asRecord(at);
}

function valueOfType(schema: Schema, sample: Sample, depth: number): unknown {
  const listed = schema["type"];
  const type = Array.isArray(listed) ? listed[0] : listed;
  switch (type) {
    case "string":
      return sampleText(schema);
    case "integer":
    case "number":
      return sampleNumber(schema, type === "integer");
    case "boolean":
      return true;
    case "null":
      return null;
    case "array": {
      const least = depth < DEPTH_MAX ? Math.min(asNumber(schema["minItems"]) ?? 0, 16, sample.left) : 0;
      return Array.from({ length: least }, () => made(schema["items"], sample, depth + 1));
    }
    default:
      return sampleObject(schema, sample, depth);
  }
}

function sampleObject(schema: Schema, sample: Sample, depth: number): Record<string, unknown> {
  const properties = asRecord(schema["properties"]);
  const required = asList(schema["required"]).filter((name) => typeof name === "string");
  if (depth >= DEPTH_MAX) return {};
  // `fromEntries` sets own properties, whatever their name.
  return Object.fromEntries(
    required.map((name) => [name, made(lookUp(properties, name) ?? { type: "string" }, sample, depth + 1)]),
  );
}

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  time: "12:00:00Z",
  "date-time": "2026-01-01T12:00:00Z",
  email: "demo@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
  hostname: "example.com",
};

function sampleText(schema: Schema): string {
  const text = lookUp(FORMATS, asText(schema["format"]) ?? "") ?? "demo";
  const least = Math.min(asNumber(schema["minLength"]) ?? 0, 1000);
  const most = asNumber(schema["maxLength"]) ?? Number.POSITIVE_INFINITY;
  return text.padEnd(least, "o").slice(0, Math.max(least, most));
}

function sampleNumber(schema: Schema, whole: boolean): number {
  const step = asNumber(schema["multipleOf"]) ?? (whole ? 1 : 0);
  const low = asNumber(schema["minimum"]) ?? Number.NEGATIVE_INFINITY;
  const above = asNumber(schema["exclusiveMinimum"]) ?? Number.NEGATIVE_INFINITY;
  const high = Math.min(
    asNumber(schema["maximum"]) ?? Number.POSITIVE_INFINITY,
    asNumber(schema["exclusiveMaximum"]) ?? Number.POSITIVE_INFINITY,
  );
  const isIn = (value: number) =>
    value >= low && value > above && value <= high && value !== (asNumber(schema["exclusiveMaximum"]) ?? Number.NaN);
  for (const value of [1, 0]) if (isIn(value) && (step === 0 || value % step === 0)) return value;
  const floor = Math.max(low, above);
  if (floor === Number.NEGATIVE_INFINITY) return whole ? Math.floor(high) - (isIn(Math.floor(high)) ? 0 : 1) : high - 1;
  if (step > 0) {
    const first = Math.ceil(floor / step) * step;
    return isIn(first) ? first : first + step;
  }
  if (isIn(floor)) return floor;
  return high === Number.POSITIVE_INFINITY ? floor + 1 : (floor + high) / 2;
}
