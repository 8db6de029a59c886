// What the value of a request's member must be: how it is checked and read, and how the API document describes it.

import {
  type Check,
  expectBoolean,
  expectFields,
  expectInteger,
  expectListOf,
  expectNumber,
  expectString,
  expectText,
  type Fields,
  reject,
} from "./check.ts";

/** The rule for a value. */
export interface ValueRule<T> {
  /** Returns undefined for a value that means the same as none. */
  readonly check: Check<T | undefined>;
  /** The JSON Schema. */
  readonly schema: Fields;
}

/** A number within inclusive bounds. `preset` is the value that is used if there is none. */
export function aNumber(minimum?: number, maximum?: number, preset?: number): ValueRule<number> {
  return { check: expectNumber(minimum, maximum), schema: { type: "number", ...bounds(minimum, maximum, preset) } };
}

/** The same for integers. */
export function anInteger(minimum?: number, maximum?: number, preset?: number): ValueRule<number> {
  return { check: expectInteger(minimum, maximum), schema: { type: "integer", ...bounds(minimum, maximum, preset) } };
}

function bounds(minimum?: number, maximum?: number, preset?: number): Fields {
  return {
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(preset === undefined ? {} : { default: preset }),
  };
}

export const aBoolean: ValueRule<boolean> = { check: expectBoolean, schema: { type: "boolean" } };
export const aString: ValueRule<string> = { check: expectString, schema: { type: "string" } };
/** A string with at least one character. */
export const aText: ValueRule<string> = { check: expectText, schema: { type: "string", minLength: 1 } };
export const anObject: ValueRule<Fields> = {
  check: expectFields,
  schema: { type: "object", additionalProperties: true },
};
const expectStrings = expectListOf(expectString);
export const strings: ValueRule<string[]> = {
  check: expectStrings,
  schema: { type: "array", items: { type: "string" } },
};
/** Every piece of an answer may be compared with each of them, and providers take few. */
const STOPS_MAX = 1000;
/** A list of texts at which generation stops. */
export const stopTexts: ValueRule<string[]> = {
  check: (value, path) => {
    const texts = expectStrings(value, path);
    if (texts.length > STOPS_MAX)
      reject(path, `Invalid '${path}': expected at most ${STOPS_MAX} texts, got ${texts.length}.`);
    return texts;
  },
  schema: { ...strings.schema, maxItems: STOPS_MAX },
};
/** One such text, or a list of them. */
export const oneOrMoreStops: ValueRule<string[]> = {
  check: (value, path) => (typeof value === "string" ? [value] : stopTexts.check(value, path)),
  schema: { anyOf: [{ type: "string" }, stopTexts.schema] },
};
