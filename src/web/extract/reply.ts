// Reads a model's answer: finds the JSON in the surrounding text, reads the quotes of each field, and drops fields that were not
// requested. Pure.

import { isRecord } from "../../base/json-object.ts";
import { put, type QuoteSource } from "./quotes.ts";
import type { JsonSchema } from "./schema.ts";

/** The parsed answer. */
export interface Reply {
  readonly value: unknown;
  /** The quotes of each top-level field. If the entries of a list are quoted one by one, there are as many quotes as entries. */
  readonly quotes: Readonly<Record<string, readonly (string | null)[]>>;
  /** The quotes of the entries, if the value is a list. */
  readonly entryQuotes: readonly (string | null)[];
  /** The fields that were not requested and were dropped. */
  readonly surplus: readonly string[];
}

/**
 * Maximum length of a quote that is checked. It is far above what is shown of one, so that an invented end is not cut off before
 * the check; a longer text is no quote.
 */
const QUOTE_CHARS_MAX = 50_000;
const QUOTES_MAX = 1000;
const SURPLUS_MAX = 20;
/** Maximum depth of an answer, far more than any schema allows. */
const LEVELS_MAX = 128;

/** Parses an answer. If it is invalid, returns a string that describes the error. */
export function readReply(text: string, schema: JsonSchema | null): Reply | string {
  const json = jsonIn(text);
  if (json === undefined) return "The answer is not valid JSON.";
  if (!isRecord(json) || !("value" in json)) return 'The answer must be one JSON object with "value" and "quotes".';
  const surplus = new Set<string>();
  const value = pruned(json["value"], schema, { path: "", surplus, level: 0 });
  if (schema === null && !isRecord(value)) return '"value" must be an object.';
  const quotes: Record<string, readonly (string | null)[]> = {};
  if (isRecord(json["quotes"]))
    for (const [field, given] of Object.entries(json["quotes"])) put(quotes, field, textsOf(given));
  const entryQuotes = Array.isArray(json["quotes"]) ? textsOf(json["quotes"]) : [];
  return { value, quotes, entryQuotes, surplus: [...surplus].slice(0, SURPLUS_MAX) };
}

/** The JSON in a text, which may have words or a code fence around it. */
function jsonIn(text: string): unknown {
  const fenced = fencedIn(text);
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  for (const candidate of [text, fenced, start >= 0 && end > start ? text.slice(start, end + 1) : undefined]) {
    if (candidate === undefined) continue;
    try {
      return JSON.parse(candidate);
    } catch {
      // Another part of the text may be valid JSON.
    }
  }
  return undefined;
}

/** What stands between a fence and the next one that begins a line. Each blank is looked at once, however many there are. */
function fencedIn(text: string): string | undefined {
  for (const { 0: fence, 1: blanks = "", index } of text.matchAll(/```(?:json)?(\s+)/gi)) {
    if (!blanks.includes("\n")) continue;
    const from = index + fence.length;
    for (let at = text.indexOf("```", from); at >= 0; at = text.indexOf("```", at + 3)) {
      const content = text.slice(from, at).trimEnd();
      if (text.slice(from + content.length, at).includes("\n")) return content;
    }
    return undefined;
  }
  return undefined;
}

function textsOf(given: unknown): (string | null)[] {
  const list = Array.isArray(given) ? given.slice(0, QUOTES_MAX) : [given];
  return list.map((one) =>
    typeof one === "string" && one.trim() !== "" && one.length <= QUOTE_CHARS_MAX ? one : null,
  );
}

interface Pruning {
  readonly path: string;
  readonly surplus: Set<string>;
  readonly level: number;
}

/** Keywords that may allow more fields than the schema lists. */
const OPENERS = [
  "additionalProperties",
  "patternProperties",
  "unevaluatedProperties",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
];

/** The value without the fields that its schema does not list. Schemas with other rules are left to validation. */
function pruned(value: unknown, schema: unknown, at: Pruning): unknown {
  if (!isRecord(schema) || at.level > LEVELS_MAX) return value;
  if (Array.isArray(value)) {
    const inner = { ...at, path: `${at.path}[]`, level: at.level + 1 };
    return value.map((one) => pruned(one, schema["items"], inner));
  }
  const properties = schema["properties"];
  if (!isRecord(value) || !isRecord(properties)) return value;
  const isClosed = OPENERS.every((word) => schema[word] === undefined || schema[word] === false);
  const kept: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    const path = at.path === "" ? name : `${at.path}.${name}`;
    const listed = Object.hasOwn(properties, name);
    if (listed) put(kept, name, pruned(one, properties[name], { ...at, path, level: at.level + 1 }));
    else if (isClosed) at.surplus.add(path);
    else put(kept, name, one);
  }
  return kept;
}

/** The quotes of each field as sources of this page. */
export function sourcesOf(url: string, quotes: Reply["quotes"]): Record<string, QuoteSource[]> {
  const sources: Record<string, QuoteSource[]> = {};
  for (const [field, given] of Object.entries(quotes)) {
    const known = given.filter((quote): quote is string => quote !== null);
    if (known.length > 0)
      put(
        sources,
        field,
        [...new Set(known)].map((quote) => ({ url, quote })),
      );
  }
  return sources;
}
