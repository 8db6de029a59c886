// Overrides of the file: SALLYPORT_<SECTION>_<KEY> variables and command-line options. They are merged into the parsed file
// before it is read, so they are validated like everything in it.

import type { TSchema } from "@sinclair/typebox";
import { isRecord } from "../base/json-object.ts";
import type { Annotations } from "./fields.ts";
import { ExternalText, parseJson } from "./read.ts";

const PREFIX = "SALLYPORT_";
/** Variables of ours that are not configuration keys. The guides tell people to export the last two, for their clients. */
const OTHER = new Set(["SALLYPORT_CONFIG", "SALLYPORT_URL", "SALLYPORT_KEY"]);

/** The parsed file with the environment's overrides, and the variables that look like one and name no key. */
export function withEnvironment(
  schema: TSchema,
  file: unknown,
  env: Readonly<Record<string, string | undefined>>,
): { raw: unknown; unknown: string[] } {
  let raw = file;
  const unknown: string[] = [];
  // In the order of names, so that SALLYPORT_X comes before the keys in it.
  for (const [name, value] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    // Compose files pass an unset variable as an empty one.
    if (!name.startsWith(PREFIX) || OTHER.has(name) || value === undefined || value === "") continue;
    const path = findKey(schema, raw, name.slice(PREFIX.length));
    if (path === undefined) unknown.push(name);
    else
      raw = withValue(
        raw,
        path,
        value.trimStart().startsWith("{") ? group(value, name) : new ExternalText(value, name),
      );
  }
  return { raw, unknown };
}

/**
 * The path of the key that `word` (such as `SERVER_MAX_BODY`) names. Entries of maps are matched with the existing
 * names, otherwise taken in lower case.
 */
function findKey(schema: TSchema, raw: unknown, word: string): string[] | undefined {
  const node = schema as TSchema & Annotations;
  if (word === "") return [];
  if (node.properties !== undefined) {
    return firstOf(Object.keys(node.properties), word, (key, rest) =>
      findKey(node.properties?.[key] ?? ({} as TSchema), childOf(raw, key), rest),
    );
  }
  const value = Object.values(node.patternProperties ?? {})[0];
  if (value === undefined || value["type"] !== "object") return undefined;
  const used = [...Object.keys(keysOf(raw)), ...Object.keys(node.entries ?? {})];
  return firstOf(used, word, (key, rest) => findKey(value, childOf(raw, key), rest)) ?? newEntry(value, word);
}

/** `MY_LLM_BASE_URL` is `base_url` of a new entry `my_llm`. */
function newEntry(value: TSchema, word: string): string[] | undefined {
  for (let at = word.indexOf("_"); at > 0; at = word.indexOf("_", at + 1)) {
    const rest = findKey(value, undefined, word.slice(at + 1));
    if (rest !== undefined && rest.length > 0) return [word.slice(0, at).toLowerCase(), ...rest];
  }
  return undefined;
}

function firstOf(
  keys: readonly string[],
  word: string,
  then: (key: string, rest: string) => string[] | undefined,
): string[] | undefined {
  // Longest first: a key whose name begins with another's is the closer match.
  for (const key of [...keys].sort((a, b) => b.length - a.length)) {
    const name = variableName(key);
    if (word !== name && !word.startsWith(`${name}_`)) continue;
    const path = then(key, word === name ? "" : word.slice(name.length + 1));
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/** A key's name in a variable. */
export function variableName(key: string): string {
  return key.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

function group(text: string, source: string): unknown {
  const value = parseJson(text);
  return typeof value === "string" ? new ExternalText(text, source) : value;
}

function isGroup(raw: unknown): raw is Record<string, unknown> {
  return isRecord(raw) && !(raw instanceof ExternalText);
}

function keysOf(raw: unknown): Record<string, unknown> {
  return isGroup(raw) ? raw : {};
}

/** The value of a group under `key`; undefined if there is none or it is not a group. */
export function childOf(raw: unknown, key: string): unknown {
  const keys = keysOf(raw);
  return Object.hasOwn(keys, key) ? (keys[key] ?? undefined) : undefined;
}

/** A copy of `raw` with `value` at `path`. A value on the way that is not a group stays: reading it reports it. */
export function withValue(raw: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (raw !== undefined && raw !== null && !isGroup(raw)) return raw;
  return { ...keysOf(raw), [key]: withValue(childOf(raw, key), rest, value) };
}

/** A copy of a group without one key. */
export function withoutKey(raw: unknown, key: string): unknown {
  return Object.fromEntries(Object.entries(keysOf(raw)).filter(([name]) => name !== key));
}
