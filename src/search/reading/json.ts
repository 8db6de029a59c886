// Reads hits from JSON by dotted paths. If the list at a path is missing, the response has changed; this is not an empty result.

import { isRecord } from "../../base/json-object.ts";
import type { EngineContext, EngineResponse, Hit, Parsed, SearchEngine } from "../engine.ts";
import { isoDate } from "./date.ts";
import { failed, statusFailure } from "./status.ts";
import { oneLine, plain, webAddress } from "./text.ts";

/** The members of an engine that reading needs. */
export type Read = Pick<SearchEngine, "selectors"> & Partial<Pick<SearchEngine, "key" | "optionalKey">>;

/** Maximum number of hits on one page. No engine returns more; the rest is ignored. */
export const RESULTS_MAX = 300;

/**
 * Maximum length of an address, which is also the limit for sitemaps. Longer addresses are useless, and comparing megabytes of
 * them would block everything else.
 */
const ADDRESS_CHARS_MAX = 2048;
/** Maximum length of a title, which is more than responses show. */
const TITLE_CHARS_MAX = 1000;
const SNIPPET_CHARS_MAX = 4000;

/** Reads the values of an item by the names of the engine's selectors. */
export interface ItemFields {
  /** The raw value. */
  raw(name: string): unknown;
  /** The value as one plain line without markup; empty if it is missing. Lists are joined with commas. */
  text(name: string): string;
  /** The value as one line that is not markup, such as a name that contains `<`. */
  literal(name: string): string;
  /** The value as an ISO 8601 date. */
  date(name: string): string | undefined;
  /** The value as a web address. */
  address(name: string): string | undefined;
}

/** A hit in which required members may be missing. Such hits are dropped. */
export type PartialHit = { readonly [Key in keyof Hit]?: Hit[Key] | undefined };

/** The parts of a response beside its hits. */
export type More = Omit<Parsed & { kind: "hits" }, "kind" | "hits">;

/**
 * How an engine's JSON is read, in addition to its selectors. `results` is the path of the list, or several paths, separated by
 * commas.
 */
export interface JsonReading {
  readonly engine: Read;
  /** Which of `title` and `snippet` contain markup or entities. The others are taken literally. */
  readonly markup?: readonly ("title" | "snippet")[];
  /** Adds to the values of the selectors `title`, `url`, `snippet`, `date`, `thumbnail` and `file`, or replaces them. */
  draft?(fields: ItemFields, item: unknown): PartialHit | undefined;
  /**
   * The failure that a body reports although its status is 200, or that takes precedence over the status. `body` is undefined if
   * it is not JSON.
   */
  failure?(body: unknown, response: EngineResponse): Parsed | undefined;
  /** Whether a response without the list means that there are no hits. */
  isEmpty?(body: unknown): boolean;
  /** The parts of a response beside its hits. */
  more?(fields: ItemFields, body: unknown): More;
}

/** Reads a JSON response. */
export function readJsonAnswer(response: EngineResponse, context: EngineContext, reading: JsonReading): Parsed {
  const body = parsedJson(response.body);
  const told = reading.failure?.(body, response);
  if (told !== undefined) return told;
  const failure = statusFailure(response, { keyed: isKeyed(reading.engine, context) });
  if (failure !== undefined) return { kind: "failure", failure };
  if (body === undefined) return failed("changed_markup", "The answer is not JSON, or it is incomplete.");
  return readItems(body, context, reading);
}

/** Reads hits from JSON that is elsewhere, such as in the script of a page. */
export function readItems(body: unknown, context: EngineContext, reading: JsonReading): Parsed {
  const strange = strangeSelector(reading.engine, context);
  if (strange !== undefined) return strange;
  const selectors = selectorsOf(reading.engine, context);
  const found = listsOf(body, selectors["results"] ?? "");
  const items = found ?? (reading.isEmpty?.(body) === true ? [] : undefined);
  if (items === undefined) return failed("changed_markup", `The answer has no list at "${selectors["results"]}".`);
  const hits = inOrder(items, selectors["rank"])
    .slice(0, RESULTS_MAX)
    .flatMap((item) => {
      const fields = fieldsOf(item, selectors, context);
      const own = reading.draft === undefined ? {} : reading.draft(fields, item);
      const hit = own === undefined ? undefined : completed({ ...drafted(fields, selectors, reading), ...own });
      return hit === undefined ? [] : [hit];
    });
  if (items.length > 0 && hits.length === 0)
    return failed("changed_markup", "No item of the answer has a title and an address.");
  return { kind: "hits", hits, ...reading.more?.(fieldsOf(body, selectors, context), body) };
}

/** The engine's selectors, in which the operator's replace those of the same name. */
export function selectorsOf(engine: Pick<SearchEngine, "selectors">, { settings }: EngineContext) {
  return settings.selectors === undefined ? engine.selectors : { ...engine.selectors, ...settings.selectors };
}

/** A selector of the operator's that the engine does not have, and that would therefore have no effect. */
export function strangeSelector(
  engine: Pick<SearchEngine, "selectors">,
  { settings }: EngineContext,
): Parsed | undefined {
  const strange = Object.keys(settings.selectors ?? {}).find((name) => !Object.hasOwn(engine.selectors, name));
  if (strange === undefined) return undefined;
  const known = Object.keys(engine.selectors).join(", ");
  return failed("changed_markup", `The configuration has a selector "${strange}"; the engine has ${known}.`);
}

/** Whether the request had a key, so that a refusal may be about the key. */
export function isKeyed({ key, optionalKey }: Read, { settings }: EngineContext): boolean {
  return (key ?? optionalKey) !== undefined && settings.apiKey !== undefined;
}

/** A context in which the engine's own selectors are final. */
export function settled(context: EngineContext): EngineContext {
  return { ...context, settings: { ...context.settings, selectors: undefined } };
}

/** Parses the body as JSON; undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The value at a dotted path, where `$` is the whole; of several paths, separated by `|`, the first one that exists. */
export function valueAt(body: unknown, path: string): unknown {
  for (const one of path.split("|")) {
    const value = one === "$" ? body : one.split(".").reduce(member, body);
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** The items in the order of their own ranks. */
function inOrder(items: readonly unknown[], rank: string | undefined): readonly unknown[] {
  if (rank === undefined) return items;
  const place = (item: unknown) => Number(valueAt(item, rank) ?? Number.POSITIVE_INFINITY);
  return items.toSorted((one, other) => Math.sign(place(one) - place(other)) || 0);
}

/** The names of an object's members; undefined for other values. */
export function namesOf(body: unknown): readonly string[] | undefined {
  return isRecord(body) ? Object.keys(body) : undefined;
}

/** The items of all the lists; undefined if one of the lists is missing. */
function listsOf(body: unknown, paths: string): readonly unknown[] | undefined {
  const lists = paths.split(",").map((path) => listOf(body, path));
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** A list, or the values of an object; undefined for other values. */
function listOf(body: unknown, path: string): readonly unknown[] | undefined {
  const value = valueAt(body, path);
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null && path !== "$" ? Object.values(value) : undefined;
}

/** Reads the values of `item` by the names in `selectors`. Relative addresses are resolved against the request's. */
export function fieldsOf(
  item: unknown,
  selectors: Readonly<Record<string, string>>,
  context: EngineContext,
): ItemFields {
  const raw = (name: string) => (selectors[name] === undefined ? undefined : valueAt(item, selectors[name]));
  return {
    raw,
    text: (name) => plain(written(raw(name))),
    literal: (name) => oneLine(written(raw(name))),
    date: (name) => isoDate(raw(name), context.query.nowMs),
    address: (name) => webAddress(written(raw(name))),
  };
}

/** The text of a string, a number, or a list of them. Nested lists have none, as they are never a title. */
function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(writtenOne).filter(Boolean).join(", ");
  return writtenOne(value);
}

function writtenOne(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

function drafted(fields: ItemFields, selectors: Readonly<Record<string, string>>, { markup }: JsonReading): PartialHit {
  const has = (name: string) => selectors[name] !== undefined;
  const text = (name: "title" | "snippet") =>
    markup?.includes(name) === true ? fields.text(name) : fields.literal(name);
  return {
    ...(has("url") && { url: fields.address("url") }),
    ...(has("title") && { title: text("title") }),
    ...(has("snippet") && { snippet: text("snippet") }),
    ...(has("date") && { publishedAt: fields.date("date") }),
    ...(has("thumbnail") && { thumbnail: fields.address("thumbnail") }),
    ...(has("file") && { file: fields.address("file") }),
  };
}

/** The hit without its missing members; undefined if it has no title or no address. */
export function completed(draft: PartialHit): Hit | undefined {
  const { url, title, snippet = "", publishedAt, thumbnail, file, engines } = draft;
  if (url === undefined || url.length > ADDRESS_CHARS_MAX || title === undefined || title === "") return undefined;
  return {
    url,
    title: title.slice(0, TITLE_CHARS_MAX),
    snippet: snippet.slice(0, SNIPPET_CHARS_MAX),
    ...(publishedAt !== undefined && { publishedAt }),
    ...(thumbnail !== undefined && thumbnail.length <= ADDRESS_CHARS_MAX && { thumbnail }),
    ...(file !== undefined && file.length <= ADDRESS_CHARS_MAX && { file }),
    ...(engines !== undefined && { engines }),
  };
}
