// Reads a parsed file against the schema: interpolates, applies defaults, validates, and converts it to the program's form
// (fields.ts). Every problem is collected; a value with a problem is read as its default so that reading can continue.

import { OptionalKind, type TSchema } from "@sinclair/typebox";
import { isRecord } from "../base/json-object.ts";
import { parseDurationMs, parseSizeBytes } from "../base/quantity.ts";
import type { Annotations, KnownNames } from "./fields.ts";
import { VALUE_FORMATS } from "./formats.ts";
import { interpolate, type Surroundings } from "./interpolate.ts";
import { holdsSecret, joinPath, kindOfValue, nearest, show } from "./show.ts";

/** A problem at a path. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  /** Where the value came from if not from the file. */
  readonly source?: string;
  /** True if a variable or a file that the value names is missing. */
  readonly unresolved?: true;
}

/** A value given as text from outside the file: it is converted to the type of its key, and not interpolated. */
export class ExternalText {
  readonly text: string;
  /** Absent: an interpolation in the file. */
  readonly source: string | undefined;
  constructor(text: string, source?: string) {
    this.text = text;
    this.source = source;
  }
}

/** Reads one file; `problems` is filled on the way. */
export class Reader {
  readonly problems: Problem[] = [];
  readonly #surroundings: Surroundings;
  readonly #names: KnownNames | undefined;

  /** `names`: without them any name is accepted. */
  constructor(surroundings: Surroundings, names?: KnownNames) {
    this.#surroundings = surroundings;
    this.#names = names;
  }

  /** The program's form of `raw`. With problems, the result only serves to find more of them. */
  read(schema: TSchema, raw: unknown, path: string): unknown {
    const node = schema as TSchema & Annotations;
    if (raw === undefined || raw === null) {
      if (node.default !== undefined) return this.#fallback(node, path);
      if (schema[OptionalKind] !== "Optional") this.#report(path, "is required");
      return undefined;
    }
    if (node.properties !== undefined) return this.#section(node, raw, path);
    if (node.patternProperties !== undefined) return this.#map(node, raw, path);
    if (node.type === "array") return this.#list(node, raw, path);
    if (node.type === "object") return this.#open(this.#keys(raw, path), path);
    return this.#scalar(node, raw, path);
  }

  /** A default is written in the file's form, and trusted. */
  #fallback(node: TSchema & Annotations, path: string): unknown {
    const { default: value } = node;
    if (node.format === "duration") return parseDurationMs(String(value));
    if (node.format === "size") return parseSizeBytes(String(value));
    return typeof value === "object" ? this.read(node, value, path) : value;
  }

  #section(node: TSchema & Annotations, raw: unknown, path: string): Record<string, unknown> {
    const given = this.#keys(raw, path);
    const properties = node.properties ?? {};
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(properties, key)) this.#unknownKey(path, key, Object.keys(properties));
    }
    const out: Record<string, unknown> = {};
    for (const [key, schema] of Object.entries(properties)) {
      const value = this.read(schema, Object.hasOwn(given, key) ? given[key] : undefined, joinPath(path, key));
      if (value !== undefined) out[node.asWritten === true ? key : resolvedKey(key, schema)] = value;
    }
    return out;
  }

  #map(node: TSchema & Annotations, raw: unknown, path: string): unknown {
    const given = this.#keys(raw, path);
    const [pattern = "", schema] = Object.entries(node.patternProperties ?? {})[0] ?? [];
    if (schema === undefined) return {};
    const defaults = node.entries ?? {};
    const keys = [...Object.keys(defaults), ...Object.keys(given).filter((key) => !Object.hasOwn(defaults, key))];
    const out = new Map<string, unknown>();
    for (const key of keys) {
      const at = joinPath(path, key);
      if (!new RegExp(pattern).test(key)) {
        this.#report(at, "is not a valid name (allowed: letters, digits, '.', '_' and '-')");
        continue;
      }
      this.#checkName(node, key, at);
      const own = Object.hasOwn(given, key) ? given[key] : undefined;
      // An entry without keys (such as `demo:`) has its defaults.
      const value = schema["type"] === "object" ? withDefaults(own ?? {}, defaults[key]) : own;
      out.set(key, this.read(schema, value, at));
    }
    return schema["type"] === "object" ? out : Object.fromEntries(out);
  }

  #list(node: TSchema & Annotations, raw: unknown, path: string): unknown[] {
    const items = node.items;
    const given = this.#wholeValue(raw, path);
    if (given === undefined) return [];
    const elements = given instanceof ExternalText ? splitList(given) : given;
    const source = given instanceof ExternalText ? given.source : undefined;
    if (!Array.isArray(elements) || items === undefined) {
      this.#report(path, `expected a list, got ${kindOfValue(elements)}`, source);
      return [];
    }
    if (node.minItems !== undefined && elements.length < node.minItems) this.#report(path, "needs at least one entry");
    return elements.map((element, i) => this.read(items, element, joinPath(path, i))).filter((e) => e !== undefined);
  }

  /**
   * Interpolated text instead of a list or group is parsed; undefined after a problem.
   */
  #wholeValue(raw: unknown, path: string): unknown {
    if (typeof raw !== "string" || !raw.includes("${")) return raw;
    const result = interpolate(raw, this.#surroundings);
    if (typeof result !== "string") return result.changed ? new ExternalText(result.text) : result.text;
    this.#reportUnresolved(path, result);
    return undefined;
  }

  #scalar(node: TSchema & Annotations, raw: unknown, path: string): unknown {
    let value = raw;
    let secret = node.secret === true;
    let source: string | undefined;
    let loose = false;
    if (raw instanceof ExternalText) {
      value = raw.text;
      source = raw.source;
      loose = true;
    } else if (typeof raw === "string") {
      const result = interpolate(raw, this.#surroundings);
      if (typeof result === "string") {
        this.#reportUnresolved(path, result);
        // Commands without providers go on with it.
        return node.default === undefined ? undefined : this.#fallback(node, path);
      }
      value = result.text;
      loose = result.changed;
      secret ||= result.secret;
    }
    if (node.type === undefined) return this.#open(value, path);
    const text = typeof value === "string" && loose ? value.trim() : undefined;
    if (text !== undefined && node.type !== "string") value = coerce(text, node.type);
    const outcome = check(node, value);
    if (outcome.expected !== undefined) {
      const isPlainText = node.format !== "duration" && node.format !== "size";
      const hint = node.type === "string" && typeof value === "number" && isPlainText ? " (put it in quotes)" : "";
      this.#report(path, `expected ${outcome.expected}, got ${show(value, secret)}${hint}`, source);
      return this.#fallback(node, path);
    }
    if (typeof outcome.value === "string") this.#checkName(node, outcome.value, path);
    return outcome.value;
  }

  #checkName({ names: kind }: Annotations, name: string, path: string): void {
    const known = kind === undefined ? undefined : this.#names?.[kind];
    if (known === undefined || known.includes(name)) return;
    const meant = nearest(name, known);
    const hint = meant === undefined ? `known: ${known.join(", ")}` : `did you mean ${meant}?`;
    this.#report(path, `there is no ${kind} ${show(name)} (${hint})`);
  }

  /** A value without a schema: interpolated, otherwise unchanged. */
  #open(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((element, i) => this.#openChild(element, joinPath(path, i)));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, this.#openChild(v, joinPath(path, key))]));
  }

  #openChild(value: unknown, path: string): unknown {
    if (typeof value !== "string") return this.#open(value, path);
    const result = interpolate(value, this.#surroundings);
    if (typeof result !== "string") return result.text;
    this.#reportUnresolved(path, result);
    return undefined;
  }

  /**
   * The keys of a group. If the value is not a group, reports a problem and returns none. The value is not shown, since
   * it may be a misplaced secret.
   */
  #keys(raw: unknown, path: string): Record<string, unknown> {
    const given = this.#wholeValue(raw, path);
    if (given === undefined) return {};
    const value = given instanceof ExternalText ? parseJson(given.text) : given;
    if (isRecord(value)) return value as Record<string, unknown>;
    this.#report(
      path,
      `expected a group of keys, got ${kindOfValue(value)}`,
      given instanceof ExternalText ? given.source : undefined,
    );
    return {};
  }

  #unknownKey(path: string, key: string, known: readonly string[]): void {
    const meant = nearest(key, known);
    // A key on a line of its own without "api_key:" would otherwise be shown.
    const at = joinPath(path, holdsSecret(key) ? "***" : key);
    this.#report(at, meant === undefined ? "unknown key" : `unknown key (did you mean ${joinPath(path, meant)}?)`);
  }

  #reportUnresolved(path: string, message: string): void {
    this.problems.push({ path, message, unresolved: true });
  }

  #report(path: string, message: string, source?: string): void {
    this.problems.push(source === undefined ? { path, message } : { path, message, source });
  }
}

/** The program's name of a key: camelCase with the unit last. */
export function resolvedKey(key: string, schema: TSchema): string {
  const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const format = schema["format"];
  return format === "duration" ? `${camel}Ms` : format === "size" ? `${camel}Bytes` : camel;
}

function withDefaults(own: unknown, defaults: Readonly<Record<string, unknown>> | undefined): unknown {
  if (defaults === undefined || typeof own !== "object" || own === null || Array.isArray(own)) return own;
  if (own instanceof ExternalText) return own;
  // An empty text means the default, as it does where a key has a single default.
  const written = Object.entries(own).filter(([, value]) => value !== "" && value !== null);
  return { ...defaults, ...Object.fromEntries(written) };
}

function splitList(given: ExternalText): unknown {
  const text = given.text.trim();
  if (text.startsWith("[")) return parseJson(text);
  // An empty text is an empty list, as an empty default (`${X:-}`) means it.
  if (text === "") return [];
  return text.split(",").map((part) => new ExternalText(part.trim(), given.source));
}

/** The value of a JSON text; the text itself if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function coerce(text: string, type: string): unknown {
  if (type === "boolean") {
    if (/^(?:true|1|yes|on)$/i.test(text)) return true;
    return /^(?:false|0|no|off)$/i.test(text) ? false : text;
  }
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

interface Outcome {
  readonly value?: unknown;
  /** What was expected; absent if it is valid. */
  readonly expected?: string;
}

function check(node: Annotations, value: unknown): Outcome {
  if (node.type === "boolean") return typeof value === "boolean" ? { value } : { expected: "true or false" };
  if (node.type === "integer" || node.type === "number") return checkNumber(node, value);
  // YAML 1.1 editors and habits turn a bare `off` into false.
  const text = value === false && node.enum?.includes("off") === true ? "off" : value;
  if (typeof text !== "string") return { expected: expectedText(node, text) };
  if (node.enum !== undefined) {
    return node.enum.includes(text) ? { value: text } : { expected: `one of ${node.enum.join(", ")}` };
  }
  if (node.format === "duration")
    return checkQuantity(node, parseDurationMs(text), "a duration such as 500ms, 15s, 10m, 24h or 30d");
  if (node.format === "size") return checkQuantity(node, parseSizeBytes(text), "a size such as 64KiB or 20MiB");
  const trimmed = text.trim();
  if (trimmed === "") return node.blank === true ? { value: "" } : { expected: "non-empty text" };
  if (node.format === undefined || VALUE_FORMATS[node.format].accepts(trimmed)) return { value: trimmed };
  return { expected: VALUE_FORMATS[node.format].expected };
}

/** What a value that is not text should have been: a number without its unit is told with one that may be meant. */
function expectedText({ format }: Annotations, value: unknown): string {
  if (format !== "duration" && format !== "size") return "text";
  const unit = format === "duration" ? "s" : value === 0 || Number(value) < 1024 ? "MiB" : "B";
  const meant = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? `${value}${unit}` : undefined;
  return `a ${format} such as ${meant ?? (format === "duration" ? "30s" : "20MiB")}`;
}

function checkNumber({ type, minimum, maximum }: Annotations, value: unknown): Outcome {
  const fits =
    typeof value === "number" &&
    (type === "number" ? Number.isFinite(value) : Number.isSafeInteger(value)) &&
    value >= (minimum ?? -Infinity) &&
    value <= (maximum ?? Infinity);
  if (fits) return { value };
  const range = maximum === undefined ? ` of at least ${minimum ?? 0}` : ` from ${minimum ?? 0} to ${maximum}`;
  return { expected: `a ${type === "integer" ? "whole " : ""}number${range}` };
}

function checkQuantity({ format, least, most }: Annotations, value: number | undefined, expected: string): Outcome {
  if (value === undefined) return { expected };
  const unit = format === "size" ? " bytes" : "ms";
  if (least !== undefined && value < least) return { expected: `a ${format} of at least ${least}${unit}` };
  if (most !== undefined && value > most) return { expected: `a ${format} of at most ${most}${unit}` };
  return { value };
}
