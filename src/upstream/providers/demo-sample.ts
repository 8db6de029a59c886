// A value that a JSON Schema accepts, for the demo model's tool calls: defaults, examples and enums where they are given,
// else the plainest value within the bounds.

type Schema = Readonly<Record<string, unknown>>;

/** Schemas nest; a reference to itself must end somewhere. */
const DEPTH_MAX = 8;

/** A value for the schema. Understands the keywords that tool schemas use; others are ignored. */
export function sampleOf(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null) return {};
  const own = resolve(schema as Schema, root);
  for (const key of ["const", "default"]) if (own[key] !== undefined) return own[key];
  for (const key of ["enum", "examples"]) {
    const list = own[key];
    if (Array.isArray(list) && list.length > 0) return list[0];
  }
  for (const key of ["anyOf", "oneOf"]) {
    const list = own[key];
    if (Array.isArray(list) && list.length > 0) return sampleOf(list[0], root, depth + 1);
  }
  if (Array.isArray(own["allOf"])) {
    const parts = own["allOf"].map((part) => resolve(part as Schema, root));
    const properties = Object.assign({}, own["properties"], ...parts.map((part) => part["properties"]));
    const required = [own, ...parts].flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : []));
    const { allOf: _allOf, ...rest } = own;
    return sampleOf(Object.assign({}, ...parts, rest, { properties, required }), root, depth + 1);
  }
  return sampleOfType(own, root, depth);
}

function resolve(schema: Schema, root: unknown): Schema {
  const ref = schema["$ref"];
  if (typeof ref !== "string" || !ref.startsWith("#/")) return schema;
  let at: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? (at as Schema)[key] : undefined;
  }
  return typeof at === "object" && at !== null ? (at as Schema) : {};
}

function sampleOfType(schema: Schema, root: unknown, depth: number): unknown {
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
      const least = depth < DEPTH_MAX ? Math.min(Number(schema["minItems"] ?? 0), 16) : 0;
      return Array.from({ length: least }, () => sampleOf(schema["items"] ?? {}, root, depth + 1));
    }
    default:
      return sampleObject(schema, root, depth);
  }
}

function sampleObject(schema: Schema, root: unknown, depth: number): Record<string, unknown> {
  const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  const out: Record<string, unknown> = {};
  if (depth >= DEPTH_MAX) return out;
  for (const name of required) out[name] = sampleOf(properties[name] ?? { type: "string" }, root, depth + 1);
  return out;
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
  const text = FORMATS[String(schema["format"])] ?? "demo";
  const least = Math.min(Number(schema["minLength"] ?? 0), 1000);
  const most = Number(schema["maxLength"] ?? Number.POSITIVE_INFINITY);
  return text.padEnd(least, "o").slice(0, Math.max(least, most));
}

function sampleNumber(schema: Schema, whole: boolean): number {
  const step = Number(schema["multipleOf"] ?? (whole ? 1 : 0));
  const low = Number(schema["minimum"] ?? Number.NEGATIVE_INFINITY);
  const above = Number(schema["exclusiveMinimum"] ?? Number.NEGATIVE_INFINITY);
  const high = Math.min(
    Number(schema["maximum"] ?? Number.POSITIVE_INFINITY),
    Number(schema["exclusiveMaximum"] ?? Number.POSITIVE_INFINITY),
  );
  const isIn = (value: number) =>
    value >= low && value > above && value <= high && value !== Number(schema["exclusiveMaximum"] ?? Number.NaN);
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
