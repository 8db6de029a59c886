// Fits a page's structured data to a schema. No value is guessed: if several are possible, the field counts as missing.

import { entryOf, isRecord } from "../../base/json-object.ts";
import type { Entity } from "../../pages/structured/structured.ts";
import { foldedName, schemaOrgPaths, withoutKind } from "./names.ts";
import { lastWord, namesUnit, readDate, readNumber, withoutUnitWord, yesOrNo } from "./numbers.ts";
import { put } from "./quotes.ts";
import type { References } from "./references.ts";
import { sameText } from "./same-item.ts";
import type { JsonSchema } from "./schema.ts";
import { type Thing, typesOf } from "./things.ts";

/** A value and the text of the page that supports it. */
export interface Fitted {
  readonly value: unknown;
  readonly quotes: readonly string[];
  /** The requested members of the value that were not found. */
  readonly missing: readonly string[];
}

/** The state that is shared while the fields of one page are read. */
export interface Fitting {
  readonly references: References;
  follow(value: unknown): unknown;
  /**
   * The steps that are left. Without a limit, entities that refer to each other, and recursive schemas, could be searched
   * endlessly.
   */
  readonly left: { steps: number };
}

/** Maximum number of steps for one page, far more than real pages need. They take some tenths of a second. */
const STEPS_MAX = 15_000;

/** Thrown when a page takes more steps than allowed. */
export class FittingEnded extends Error {
  override name = "FittingEnded";
}

/** The state for one page. */
export function fittingOf(references: References, follow: (value: unknown) => unknown): Fitting {
  return { references, follow, left: { steps: STEPS_MAX } };
}

/** Maximum depth of nested schemas that are filled, since a schema may contain itself. */
const LEVELS_MAX = 8;
const QUOTE_CHARS_MAX = 300;

/** The result of looking for a value. If several values fit and disagree, none is taken. */
export type Outcome = Fitted | "absent" | "ambiguous";

/** Finds an entity's member for a field: under the field's own name, otherwise under a synonym. Throws `FittingEnded`. */
export function fitField(thing: Thing, name: string, schema: JsonSchema, fitting: Fitting, level = 0): Outcome {
  if (--fitting.left.steps < 0) throw new FittingEnded();
  const folded = foldedName(name);
  const types = thing.flatMap(typesOf);
  const inner = withoutKind(folded, types);
  const measured = withoutUnitWord(name);
  const called = (other: string) => [...own(thing, foldedName(other)), ...elsewhere(thing, foldedName(other), fitting)];
  const tiers = [
    own(thing, folded),
    elsewhere(thing, folded, fitting),
    ...(inner === undefined ? [] : [called(inner)]),
    ...(measured === undefined ? [] : [called(measured).filter(hasUnit)]),
  ];
  for (const values of tiers) {
    const outcome = agreed(values.map((value) => fit(value, { name, schema, fitting, level })));
    if (outcome !== "absent") return outcome;
  }
  return "absent";
}

/** The value on which all fits agree. */
export function agreed(fits: readonly (Fitted | undefined)[]): Outcome {
  const found = fits.filter((one) => one !== undefined);
  const [first, ...others] = found.sort((one, two) => one.missing.length - two.missing.length);
  if (first === undefined) return "absent";
  return others.every(({ value }) => sameText(value) === sameText(first.value)) ? first : "ambiguous";
}

/** The values under the name itself. */
function own(thing: Thing, folded: string): unknown[] {
  return thing.flatMap((entity) => membersOf(entity).get(folded) ?? []);
}

const members = new WeakMap<Entity, ReadonlyMap<string, readonly unknown[]>>();

/** An entity's members by their normalised names, which are computed once. */
function membersOf(entity: Entity): ReadonlyMap<string, readonly unknown[]> {
  const known = members.get(entity);
  if (known !== undefined) return known;
  const found = new Map<string, unknown[]>();
  for (const [name, value] of Object.entries(entity)) {
    if (name.startsWith("@") || value === null) continue;
    const folded = foldedName(name);
    const values = found.get(folded);
    if (values === undefined) found.set(folded, [value]);
    else values.push(value);
  }
  members.set(entity, found);
  return found;
}

/** The values under schema.org's name for the field. */
function elsewhere(thing: Thing, folded: string, fitting: Fitting): unknown[] {
  return schemaOrgPaths(folded).flatMap((path) => walk(thing, path.split("."), fitting));
}

/** Whether a value states its unit. A number without one may be in a different unit than the field. */
export function hasUnit(value: unknown): boolean {
  if (isRecord(value)) return value["unitText"] !== undefined || value["unitCode"] !== undefined;
  return typeof value === "string" && /\p{L}/u.test(value);
}

/** The values at the end of a path; there may be several if the path leads through lists. */
function walk(thing: Thing, path: readonly string[], { follow }: Fitting): unknown[] {
  let at: unknown[] = [...thing];
  path.forEach((name, index) => {
    const members = at
      .filter(isRecord)
      .flatMap((entity) => (Object.hasOwn(entity, name) ? [follow(entity[name])] : []));
    at = index === path.length - 1 ? members : members.flat();
  });
  return at.filter((value) => value !== null && value !== undefined);
}

interface Fit {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly fitting: Fitting;
  readonly level: number;
}

/** The value in the first type of the schema that it fits; undefined if it fits none. */
export function fit(given: unknown, at: Fit): Fitted | undefined {
  if (at.level > LEVELS_MAX) return undefined;
  if (--at.fitting.left.steps < 0) throw new FittingEnded();
  const value = at.fitting.follow(given);
  for (const schema of variantsOf(at.schema, at.fitting.references))
    for (const type of typesWanted(schema)) {
      const fitted = entryOf(FITS, type)?.(value, { ...at, schema });
      if (fitted !== undefined && isAllowed(fitted.value, schema)) return fitted;
    }
  return undefined;
}

/** The alternative schemas that a value may match. */
function variantsOf(schema: JsonSchema, references: References, level = 0): JsonSchema[] {
  if (level > LEVELS_MAX) return [];
  const reference = schema["$ref"];
  const target = typeof reference === "string" ? references.follow(schema, reference) : undefined;
  if (isRecord(target)) return variantsOf(target, references, level + 1);
  const parts = [schema["anyOf"], schema["oneOf"]].find(Array.isArray) as unknown[] | undefined;
  if (parts !== undefined) return parts.filter(isRecord).flatMap((part) => variantsOf(part, references, level + 1));
  const all = schema["allOf"];
  if (!Array.isArray(all)) return [schema];
  const joined = [schema, ...all.filter(isRecord).flatMap((part) => variantsOf(part, references, level + 1))];
  const joinedWord = (word: string) => Object.assign({}, ...joined.map((part) => part[word]).filter(isRecord));
  const required = joined.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : []));
  return [{ ...Object.assign({}, ...joined), properties: joinedWord("properties"), required }];
}

/** The schema with references and alternatives resolved; undefined if several alternatives are possible. */
export function plainSchema(schema: JsonSchema, references: References): JsonSchema | undefined {
  const variants = variantsOf(schema, references).filter(({ type }) => type !== "null");
  return variants.length === 1 ? variants[0] : undefined;
}

/** The types that a schema allows, in the order of the schema. */
export function typesWanted({ type, properties, items, enum: values }: JsonSchema): string[] {
  if (type !== undefined) return [type].flat().filter((one): one is string => typeof one === "string");
  if (isRecord(properties)) return ["object"];
  if (items !== undefined) return ["array"];
  if (!Array.isArray(values)) return ["plain"];
  return ["string", "number", "boolean"].filter((one) => values.some((value) => typeof value === one));
}

function isAllowed(value: unknown, schema: JsonSchema): boolean {
  const { enum: values, const: only } = schema;
  if (Array.isArray(values) && !values.includes(value)) return false;
  return only === undefined || only === value;
}

const leaf = (value: unknown, raw: unknown): Fitted => ({
  value,
  quotes: [String(raw).slice(0, QUOTE_CHARS_MAX)],
  missing: [],
});

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const FITS: Readonly<Record<string, (value: unknown, at: Fit) => Fitted | undefined>> = {
  string: fitText,
  number: fitNumber,
  integer: (value, at) => {
    const fitted = fitNumber(value, at);
    return fitted !== undefined && Number.isSafeInteger(fitted.value) ? fitted : undefined;
  },
  boolean: (value) => {
    if (typeof value === "boolean") return leaf(value, value);
    const read = isText(value) ? yesOrNo(value) : undefined;
    return read === undefined ? undefined : leaf(read, value);
  },
  plain: (value) =>
    isText(value) || typeof value === "number" || typeof value === "boolean" ? leaf(value, value) : undefined,
  array: fitList,
  object: fitObject,
};

function fitText(given: unknown, at: Fit): Fitted | undefined {
  const value = textIn(given, at);
  if (!isText(value) && typeof value !== "number") return undefined;
  const text = String(value).trim();
  const { format, enum: values } = at.schema;
  if (Array.isArray(values)) {
    const same = values.filter((one) => typeof one === "string" && foldedName(one) === foldedName(lastWord(text)));
    return same.length === 1 ? leaf(same[0], text) : undefined;
  }
  if (format === "date" || format === "date-time") {
    const date = readDate(text, format);
    return date === undefined ? undefined : leaf(date, text);
  }
  if (format === "uri" || format === "url") return URL.canParse(text) ? leaf(text, text) : undefined;
  return leaf(lastWord(text), text);
}

/** The name or text of an entity if a text is wanted; other values unchanged. */
function textIn(given: unknown, { name, schema }: Fit): unknown {
  const value = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (!isRecord(value)) return value;
  const types = typesOf(value);
  if (schema["format"] === "uri" || foldedName(name).endsWith("url") || types.includes("imageobject"))
    return value["url"] ?? value["contentUrl"];
  if (types.some((type) => type.startsWith("howto"))) return value["text"] ?? value["name"];
  return value["name"] ?? value["@value"];
}

function fitNumber(given: unknown, { name }: Fit): Fitted | undefined {
  const value = isRecord(given) ? amountOf(given, name) : given;
  if (typeof value === "number") return leaf(value, value);
  const read = isText(value) ? readNumber(value, name) : undefined;
  return read === undefined ? undefined : leaf(read, value);
}

/** The amount of an entity. If it has a unit, the unit must be the field's. */
function amountOf(entity: Entity, name: string): unknown {
  const unit = entity["unitText"] ?? entity["unitCode"];
  return unit === undefined || (typeof unit === "string" && namesUnit(name, unit)) ? entity["value"] : undefined;
}

/** Matches texts that may contain several values. */
const MAY_BE_SEVERAL = /[,;|\n]|\. /;

function fitList(given: unknown, at: Fit): Fitted | undefined {
  const { items } = at.schema;
  const schema = isRecord(items) ? items : {};
  const values = valuesIn(given, at.name);
  const fits = values?.map((value) => fit(value, { ...at, schema, level: at.level + 1 }));
  if (fits === undefined || fits.length === 0 || !fits.every((one) => one !== undefined)) return undefined;
  return {
    value: fits.map(({ value }) => value),
    quotes: fits.flatMap(({ quotes }) => quotes),
    missing: [...new Set(fits.flatMap(({ missing }) => missing.map((path) => `[].${path}`)))],
  };
}

/** The entries of a list; undefined for a text that may contain one value or several. */
function valuesIn(given: unknown, name: string): readonly unknown[] | undefined {
  if (Array.isArray(given)) return given;
  if (isRecord(given)) return Array.isArray(given["itemListElement"]) ? given["itemListElement"] : [given];
  // In schema.org, keywords in a text are separated by commas.
  if (isText(given) && schemaOrgPaths(foldedName(name)).includes("keywords"))
    return given.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  return isText(given) && MAY_BE_SEVERAL.test(given) ? undefined : [given];
}

function fitObject(given: unknown, at: Fit): Fitted | undefined {
  const value = Array.isArray(given) && given.length === 1 ? given[0] : given;
  return isRecord(value) ? fitMembers([value], at.schema, at.fitting, at.level) : undefined;
}

/** Fills the members of a schema; undefined if none is found, or if a required one is missing. */
export function fitMembers(thing: Thing, schema: JsonSchema, fitting: Fitting, level = 0): Fitted | undefined {
  const { properties, required } = schema;
  if (!isRecord(properties)) return undefined;
  const filled: Record<string, unknown> = {};
  const quotes: string[] = [];
  const missing: string[] = [];
  for (const [name, member] of Object.entries(properties)) {
    const outcome = isRecord(member) ? fitField(thing, name, member, fitting, level + 1) : "absent";
    if (typeof outcome === "string") {
      missing.push(name);
      if (Array.isArray(required) && required.includes(name)) return undefined;
      continue;
    }
    put(filled, name, outcome.value);
    quotes.push(...outcome.quotes);
    missing.push(...outcome.missing.map((path) => (path.startsWith("[") ? `${name}${path}` : `${name}.${path}`)));
  }
  return quotes.length === 0 ? undefined : { value: filled, quotes, missing };
}
