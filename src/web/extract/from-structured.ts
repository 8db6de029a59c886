// Answers from structured data, without a model. Only exact values are taken; ambiguous values count as missing and are left to a
// model.

import { isRecord } from "../../base/json-object.ts";
import type { StructuredData } from "../../pages/structured/structured.ts";
import {
  agreed,
  type Fitted,
  type Fitting,
  FittingEnded,
  fit,
  fitField,
  fitMembers,
  fittingOf,
  hasUnit,
  plainSchema,
  typesWanted,
} from "./fit.ts";
import { mergeAnswers, type PageAnswer } from "./merge.ts";
import { foldedName, isKind } from "./names.ts";
import { withoutUnitWord } from "./numbers.ts";
import { put, type QuoteSource } from "./quotes.ts";
import { type References, referencesOf } from "./references.ts";
import { sameText } from "./same-item.ts";
import type { JsonSchema } from "./schema.ts";
import { type Thing, type Things, thingsOf, typesOf } from "./things.ts";

/** A page with its structured data. */
export interface StructuredPage {
  readonly url: string;
  readonly structured: StructuredData;
}

/** The answer from structured data. */
export interface StructuredAnswer {
  /** The value; top-level fields that were not found are null. */
  readonly value: unknown;
  /** The sources of each field. Their quotes are from `evidenceText`, or from a table or list of the page. */
  readonly sources: Readonly<Record<string, readonly QuoteSource[]>>;
  /** The paths of missing values, such as `offers.price` or `reviews[].author`; "*" if the schema names no fields. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
}

/** Maximum number of quotes of each field. */
const QUOTES_MAX = 5;

/**
 * Fills the schema from the pages. A single value is missing if no page has it. A list is missing if any page lacks it, as that
 * page may have entries in its text.
 */
export function answerFromStructured(schema: JsonSchema, pages: readonly StructuredPage[]): StructuredAnswer {
  const references = referencesOf(schema);
  const root = plainSchema(schema, references);
  if (root === undefined || pages.length === 0) return { value: null, sources: {}, missing: ["*"], warnings: [] };
  const perPage = pages.map(({ url, structured }) => {
    const things = thingsOf(structured);
    return answerPage(root, { url, structured, things, fitting: fittingOf(references, things.follow) });
  });
  const { value, sources, warnings } = mergeAnswers(schema, perPage);
  return { value, sources, warnings, missing: missingOf(root, perPage, references) };
}

interface Page extends StructuredPage {
  readonly things: Things;
  readonly fitting: Fitting;
}

interface PageFound extends PageAnswer {
  readonly missing: readonly string[];
}

/** The answer of one page; empty if it would take too long. */
function answerPage(root: JsonSchema, page: Page): PageFound {
  const isList = typesWanted(root)[0] === "array";
  try {
    return isList ? answerList(root, page) : answerObject(root, page);
  } catch (error) {
    if (!(error instanceof FittingEnded)) throw error;
    const names = isRecord(root["properties"]) ? Object.keys(root["properties"]) : [];
    const value = isList ? null : Object.fromEntries(names.map((name) => [name, null]));
    return { url: page.url, value, sources: {}, missing: isList ? ["[]"] : names };
  }
}

/** The paths that are missing if all pages are taken together. */
function missingOf(root: JsonSchema, pages: readonly PageFound[], references: References): string[] {
  const properties = isRecord(root["properties"]) ? root["properties"] : {};
  const isList = (field: string) => {
    const member = properties[field];
    const plain = isRecord(member) ? plainSchema(member, references) : undefined;
    return plain !== undefined && typesWanted(plain)[0] === "array";
  };
  const paths = new Set(pages.flatMap(({ missing }) => missing));
  return [...paths].filter((path) => {
    const field = /^[^.[]*/.exec(path)?.[0] ?? "";
    return field === "" || isList(field) || pages.every(({ missing }) => missing.some((one) => isWithin(path, one)));
  });
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

function answerList(root: JsonSchema, page: Page): PageFound {
  const found = fitThings(listedThings(page), root, page.fitting);
  return { url: page.url, value: found?.value ?? null, sources: {}, missing: found?.missing ?? ["[]"] };
}

/** The entries of the page's list if there is exactly one, otherwise the page's entities if all are of one kind. */
function listedThings({ things }: Page): readonly Thing[] {
  const [list, ...others] = things.lists;
  if (list !== undefined) return others.length === 0 ? list : [];
  const kinds = new Set(things.main.map((thing) => thing.flatMap(typesOf).join(" ")));
  return things.main.length > 1 && kinds.size === 1 ? things.main : [];
}

/** Fits every entity as an entry of the list; undefined if one does not fit. */
function fitThings(found: readonly Thing[], schema: JsonSchema, fitting: Fitting): Fitted | undefined {
  const items = isRecord(schema["items"]) ? plainSchema(schema["items"], fitting.references) : undefined;
  if (items === undefined || found.length === 0) return undefined;
  const fits = found.map((thing) => fitMembers(thing, items, fitting));
  if (!fits.every((one) => one !== undefined)) return undefined;
  return {
    value: fits.map(({ value }) => value),
    quotes: fits.flatMap(({ quotes }) => quotes),
    missing: [...new Set(fits.flatMap(({ missing }) => missing.map((path) => `[].${path}`)))],
  };
}

function answerObject(root: JsonSchema, page: Page): PageFound {
  const { url } = page;
  const properties = isRecord(root["properties"]) ? root["properties"] : {};
  const names = Object.keys(properties);
  if (names.length === 0) return { url, value: null, sources: {}, missing: ["*"] };
  const thing = mainThing(names, properties, page);
  const value: Record<string, unknown> = {};
  const sources: Record<string, readonly QuoteSource[]> = {};
  const missing: string[] = [];
  for (const name of names) {
    const member = properties[name];
    const found = isRecord(member) ? findField(name, member, thing, page) : undefined;
    put(value, name, found?.value ?? null);
    if (found === undefined) missing.push(name);
    else {
      missing.push(...found.missing.map((path) => `${name}${path.startsWith("[") ? "" : "."}${path}`));
      put(sources, name, quotesOf(found, url));
    }
  }
  return { url, value, sources, missing };
}

function quotesOf({ quotes }: Fitted, url: string): QuoteSource[] {
  return [...new Set(quotes)].slice(0, QUOTES_MAX).map((quote) => ({ url, quote }));
}

/** Maximum number of entities that are considered; a page with more is a list. */
const THINGS_MAX = 200;
/** Names that nearly every entity has, so that they do not show what the fields are about. */
const COMMON = new Set(
  ["name", "title", "headline", "description", "url", "link", "image", "date", "author", "id", "category"].map(
    foldedName,
  ),
);

/**
 * The entity that the fields describe: the one that provides most of them. If several provide the same number, it is the one that
 * the page names as its main entity; if there is none, an empty entity.
 */
function mainThing(names: readonly string[], properties: JsonSchema, page: Page): Thing {
  const { main, frame } = page.things;
  const counted = [...main.slice(0, THINGS_MAX), ...frame.slice(0, THINGS_MAX)].flatMap((thing) => {
    const found = names.filter((name) => {
      const member = properties[name];
      return isRecord(member) && typeof fitField(thing, name, member, page.fitting) !== "string";
    });
    const isTelling = found.length * 2 >= names.length || found.some((name) => !COMMON.has(foldedName(name)));
    return isTelling && found.length > 0 ? [{ thing, count: found.length }] : [];
  });
  const most = Math.max(0, ...counted.map(({ count }) => count));
  const best = counted.filter(({ count }) => count === most).map(({ thing }) => thing);
  const [some, rest] = [best.filter((thing) => main.includes(thing)), best.filter((thing) => !main.includes(thing))];
  const candidates = some.length > 0 ? some : rest;
  const own = candidates.filter((thing) => thing.some((entity) => isPage(entity["url"] ?? entity["@id"], page.url)));
  const [only, ...others] = own.length === 1 ? own : candidates;
  return others.length === 0 && only !== undefined ? only : [];
}

function isPage(address: unknown, url: string): boolean {
  if (typeof address !== "string" || !URL.canParse(address, url)) return false;
  const plain = (href: string) => href.replace(/#.*$/, "").replace(/\/$/, "");
  return plain(new URL(address, url).href) === plain(url);
}

function findField(name: string, schema: JsonSchema, thing: Thing, page: Page): Fitted | undefined {
  const own = fitField(thing, name, schema, page.fitting);
  if (own === "ambiguous") return undefined;
  const at = { name, schema, fitting: page.fitting, level: 0 };
  const shown = agreed(pairsCalled(name, schema, page).map((pair) => fit(pair, at)));
  if (own !== "absent") return contradicts(own, shown) ? undefined : own;
  const whole = wholeThing(name, schema, thing, page);
  if (whole !== undefined) return whole;
  if (typeof shown !== "string") return shown;
  return shown === "ambiguous" ? undefined : fromMeta(name, schema, page);
}

/** Whether the page shows readers a different number, in which case the structured one may be out of date. */
function contradicts(own: Fitted, shown: Fitted | string): boolean {
  return typeof shown !== "string" && typeof own.value === "number" && sameText(own.value) !== sameText(shown.value);
}

/** The values that the page shows under this name, as a single list if a list is wanted. */
function pairsCalled(name: string, schema: JsonSchema, { structured, fitting }: Page): unknown[] {
  const called = (other: string) =>
    structured.pairs.filter((pair) => foldedName(pair.name) === foldedName(other)).map(({ value }) => value);
  const measured = withoutUnitWord(name);
  const own = called(name);
  const values = own.length > 0 || measured === undefined ? own : called(measured).filter(hasUnit);
  const plain = values.length > 1 ? plainSchema(schema, fitting.references) : undefined;
  return plain !== undefined && typesWanted(plain)[0] === "array" ? [values] : values;
}

/** The entities whose kind is the name of the field, such as `product` or `events`. */
function wholeThing(name: string, schema: JsonSchema, main: Thing, page: Page): Fitted | undefined {
  const plain = plainSchema(schema, page.fitting.references);
  if (plain === undefined) return undefined;
  const ofKind = (thing: Thing) => isKind(foldedName(name), thing.flatMap(typesOf));
  const [type] = typesWanted(plain);
  if (type === "object") {
    const [only, ...others] = page.things.main.filter(ofKind);
    return only === undefined || others.length > 0 ? undefined : fitMembers(only, plain, page.fitting);
  }
  if (type !== "array") return undefined;
  const listed = page.things.lists.filter((list) => list.every(ofKind));
  const things = listed.length === 0 ? page.things.main.filter(ofKind) : listed.length === 1 ? listed.flat() : [];
  if (things.length > 0) return fitThings(things, plain, page.fitting);
  return main.length === 0 && ANY_LIST.has(foldedName(name))
    ? fitThings(listedThings(page), plain, page.fitting)
    : undefined;
}

const ANY_LIST = new Set(["item", "result", "entry", "list", "listing"]);

/** The metadata with an unambiguous meaning, by field. */
const META: Readonly<Record<string, string>> = {
  siteName: "og:site_name",
  imageUrl: "og:image",
  publishedAt: "article:published_time",
  datePublished: "article:published_time",
  publishedDate: "article:published_time",
  updatedAt: "article:modified_time",
  dateModified: "article:modified_time",
  price: "product:price:amount",
  currency: "product:price:currency",
  priceCurrency: "product:price:currency",
};
const META_BY_NAME = new Map(Object.entries(META).map(([name, meta]) => [foldedName(name), meta]));

function fromMeta(name: string, schema: JsonSchema, { structured, fitting }: Page): Fitted | undefined {
  const content = structured.meta[META_BY_NAME.get(foldedName(name)) ?? ""];
  return content === undefined ? undefined : fit(content, { name, schema, fitting, level: 0 });
}
