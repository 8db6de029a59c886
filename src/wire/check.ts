// Small validators for client requests. Each takes a value and its JSON path, and throws `ApiError` `invalid_request` with that
// path as `param`, so that all formats report errors in the same way.

import { ApiError } from "../base/errors.ts";
import { isRecord } from "../base/json-object.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Validates and converts a value at a path, or throws. */
export type Check<T> = (value: unknown, path: string) => T;

/** Throws `invalid_request` for the parameter at `path`. */
export function reject(path: string, message: string): never {
  throw new ApiError("invalid_request", message, { param: path });
}

/** The path of a member. The path of the top level is empty. */
export function at(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

function expected(path: string, what: string, value: unknown): never {
  if (value === undefined) reject(path, `Missing required parameter: '${path}'.`);
  const got = value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
  reject(path, `Invalid '${path}': expected ${what}, got ${got}.`);
}

export const expectString: Check<string> = (value, path) =>
  typeof value === "string" ? value : expected(path, "a string", value);

/** A string with at least one character. */
export const expectText: Check<string> = (value, path) =>
  expectString(value, path) === "" ? reject(path, `Invalid '${path}': must not be empty.`) : (value as string);

export const expectBoolean: Check<boolean> = (value, path) =>
  typeof value === "boolean" ? value : expected(path, "a boolean", value);

export const expectFields: Check<Fields> = (value, path) =>
  isRecord(value) ? value : expected(path, "an object", value);

export const expectList: Check<readonly unknown[]> = (value, path) =>
  Array.isArray(value) ? value : expected(path, "an array", value);

/** A finite number within inclusive bounds. */
export function expectNumber(min = -Infinity, max = Infinity): Check<number> {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isFinite(value)) expected(path, "a number", value);
    if (value < min || value > max) {
      // The largest whole number is no limit that somebody chose.
      const isLow = max === Infinity || (max === Number.MAX_SAFE_INTEGER && value < min);
      const bounds = isLow ? `at least ${min}` : min === -Infinity ? `at most ${max}` : `from ${min} to ${max}`;
      reject(path, `Invalid '${path}': must be ${bounds}, got ${value}.`);
    }
    return value;
  };
}

/** An integer within inclusive bounds. */
export function expectInteger(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Check<number> {
  const within = expectNumber(min, max);
  return (value, path) => {
    if (typeof value === "number" && Number.isFinite(value) && !Number.isInteger(value)) {
      reject(path, `Invalid '${path}': expected a whole number, got ${value}.`);
    }
    return within(value, path);
  };
}

/** One of several strings. */
export function expectOneOf<const T extends string>(...words: T[]): Check<T> {
  return (value, path) => {
    if (typeof value !== "string") expected(path, "a string", value);
    if (!words.includes(value as T)) {
      reject(
        path,
        `Invalid '${path}': expected one of ${words.map((word) => `'${word}'`).join(", ")}, got '${value.slice(0, 100)}'.`,
      );
    }
    return value as T;
  };
}

/** A list of which every element passes the check. */
export function expectListOf<T>(check: Check<T>): Check<T[]> {
  return (value, path) => expectList(value, path).map((element, i) => check(element, at(path, i)));
}

/** The checked member; undefined if it is absent or null. */
export function maybe<T>(fields: Fields, key: string, check: Check<T>, path = ""): T | undefined {
  const value = fields[key];
  return value === undefined || value === null ? undefined : check(value, at(path, key));
}

/** The checked member. Throws if it is absent. */
export function need<T>(fields: Fields, key: string, check: Check<T>, path = ""): T {
  return check(fields[key], at(path, key));
}

/** The members that are not in `known`, unchanged. */
export function remaining(fields: Fields, known: ReadonlySet<string>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key in fields) if (!known.has(key)) setOwn(rest, key, fields[key]);
  return rest;
}

/** Sets a member. `__proto__` is handled as an ordinary name; a plain assignment would set the prototype. */
function setOwn(rest: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") rest[key] = value;
  else Object.defineProperty(rest, key, { value, writable: true, enumerable: true, configurable: true });
}

/** An object type whose members that may be undefined are optional instead. */
export type WithoutUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without its undefined members. */
export function given<T extends object>(object: T): WithoutUndefined<T> {
  const out: Record<string, unknown> = {};
  // Most requests have two or three of two dozen members, so no intermediate list is built.
  for (const key in object) if (object[key] !== undefined) out[key] = object[key];
  return out as WithoutUndefined<T>;
}
