// Merges the answers of several pages, or of parts of one page. Lists are united. For a single value, most pages decide, and then
// the order of the answers. Each value that was rejected is named in a warning.

import { isRecord } from "../../base/json-object.ts";
import { put, type QuoteSource, type Sources } from "./quotes.ts";
import { type References, referencesOf } from "./references.ts";
import { joinItems, sameText } from "./same-item.ts";
import type { JsonSchema } from "./schema.ts";

/** The answer of one page, or of a part of it. */
export interface PageAnswer {
  readonly url: string;
  readonly value: unknown;
  readonly sources: Sources;
}

/** The merged answer. */
export interface MergedAnswer {
  readonly value: unknown;
  readonly sources: Sources;
  readonly warnings: readonly string[];
}

const WARNINGS_MAX = 50;
const SOURCES_MAX = 20;
/** Maximum length of a value in a warning. */
const SHOWN_CHARS_MAX = 80;

/** Merges answers, which are in the order of the caller's addresses. If `schema` is undefined, the values alone decide. */
export function mergeAnswers(schema: JsonSchema | undefined, answers: readonly PageAnswer[]): MergedAnswer {
  const warnings = new Set<string>();
  const context: Context = {
    references: schema === undefined ? undefined : referencesOf(schema),
    warn: (text) => {
      if (warnings.size < WARNINGS_MAX) warnings.add(text);
    },
  };
  const found = answers.map(({ url, value }) => ({ url, value }));
  const value = mergeValues(found, { schema, path: "", context });
  return { value, sources: isRecord(value) ? mergeSources(value, answers) : {}, warnings: [...warnings] };
}

interface Context {
  readonly references: References | undefined;
  readonly warn: (text: string) => void;
}

interface Found {
  readonly url: string;
  readonly value: unknown;
}

interface Place {
  readonly schema: JsonSchema | undefined;
  /** The path in readable form, such as `offers.price`. */
  readonly path: string;
  readonly context: Context;
}

function mergeValues(all: readonly Found[], place: Place): unknown {
  const found = all.filter(({ value }) => value !== null && value !== undefined);
  const kind = kindOf(found[0]?.value);
  if (kind === undefined) return null;
  const alike = found.filter(({ value }) => kindOf(value) === kind);
  if (alike.length < found.length) tellConflict(found, found[0] as Found, place);
  if (kind === "list") return mergeLists(alike as (Found & { value: unknown[] })[], place);
  return kind === "object" ? mergeObjects(alike as (Found & { value: object })[], place) : settle(alike, place);
}

function kindOf(value: unknown): "list" | "object" | "plain" | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return "list";
  return isRecord(value) ? "object" : "plain";
}

function mergeObjects(found: readonly (Found & { value: object })[], place: Place): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const name of new Set(found.flatMap(({ value }) => Object.keys(value)))) {
    const inner = found.flatMap(({ url, value }) =>
      Object.hasOwn(value, name) ? [{ url, value: (value as Record<string, unknown>)[name] }] : [],
    );
    const path = place.path === "" ? name : `${place.path}.${name}`;
    put(merged, name, mergeValues(inner, { ...place, path, schema: memberSchema(place, name) }));
  }
  return merged;
}

function mergeLists(found: readonly (Found & { value: unknown[] })[], place: Place): unknown[] {
  const [first, ...others] = found.map(({ value }) => value) as [unknown[], ...unknown[][]];
  // A page that repeats itself gives equal entries.
  if (others.every((other) => sameText(other) === sameText(first))) return first;
  const warn = (field: string, kept: unknown, dropped: unknown) =>
    place.context.warn(`${place.path}[].${field}: ${shown(kept)} was kept; another page has ${shown(dropped)}.`);
  const united = joinItems([first, ...others].flat(), warn);
  const most = resolved(place)?.["maxItems"];
  if (typeof most !== "number" || united.length <= most) return united;
  place.context.warn(
    `${nameOf(place)}: the first ${most} of ${united.length} entries were kept, because the schema allows no more.`,
  );
  return united.slice(0, most);
}

/** The value that most pages have. If several are equally frequent, the first one. */
function settle(found: readonly Found[], place: Place): unknown {
  const groups = new Map<string, { first: Found; urls: Set<string> }>();
  for (const one of found) {
    const group = groups.get(sameText(one.value));
    if (group === undefined) groups.set(sameText(one.value), { first: one, urls: new Set([one.url]) });
    else group.urls.add(one.url);
  }
  const most = Math.max(...[...groups.values()].map(({ urls }) => urls.size));
  const { first } = [...groups.values()].find(({ urls }) => urls.size === most) as { first: Found };
  if (groups.size > 1)
    tellConflict(
      [...groups.values()].map((group) => group.first),
      first,
      place,
    );
  return first.value;
}

function tellConflict(found: readonly Found[], kept: Found, place: Place): void {
  const others = found.filter((one) => one !== kept).map(({ url, value }) => `${url} says ${shown(value)}`);
  place.context.warn(`${nameOf(place)}: ${shown(kept.value)} from ${kept.url} was kept; ${others.join(", ")}.`);
}

function nameOf({ path }: Place): string {
  return path === "" ? "The answer" : path;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** The schema of a member, if it is unambiguous. */
function memberSchema(place: Place, name: string): JsonSchema | undefined {
  const properties = resolved(place)?.["properties"];
  const member = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(member) ? member : undefined;
}

function resolved({ schema, context }: Place): JsonSchema | undefined {
  const reference = schema?.["$ref"];
  if (schema === undefined || typeof reference !== "string") return schema;
  const target = context.references?.follow(schema, reference);
  return isRecord(target) ? target : undefined;
}

/** The sources of those answers whose value was taken. */
function mergeSources(merged: Readonly<Record<string, unknown>>, answers: readonly PageAnswer[]): Sources {
  const sources: Record<string, readonly QuoteSource[]> = {};
  for (const [field, kept] of Object.entries(merged)) {
    const found = new Map<string, QuoteSource>();
    for (const { value, sources: own } of answers) {
      const given = isRecord(value) && Object.hasOwn(value, field) ? value[field] : undefined;
      if (kindOf(given) !== kindOf(kept)) continue;
      if (kindOf(kept) === "plain" && sameText(given) !== sameText(kept)) continue;
      for (const source of Object.hasOwn(own, field) ? (own[field] ?? []) : [])
        if (found.size < SOURCES_MAX) found.set(`${source.url} ${source.quote}`, source);
    }
    if (found.size > 0) put(sources, field, [...found.values()]);
  }
  return sources;
}
