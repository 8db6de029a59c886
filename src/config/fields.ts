// The building blocks of the configuration schema: TypeBox nodes whose annotations say how a value is read (read.ts), and the
// type-level rule from the file's form (snake_case, `15s`, `20MiB`) to the program's form (camelCase, `…Ms`, `…Bytes`), so
// that no key is declared twice.

import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { FormatName } from "./formats.ts";

declare const durationMark: unique symbol;
declare const sizeMark: unique symbol;
declare const writtenMark: unique symbol;

/** A duration as written, `15s`; read as milliseconds under a key that ends in `Ms`. */
export type DurationText = string & { readonly [durationMark]: true };
/** A size as written, `20MiB`; read as bytes under a key that ends in `Bytes`. */
export type SizeText = string & { readonly [sizeMark]: true };

/** A group whose keys keep the names that the file uses. */
interface AsWritten<T> {
  readonly [writtenMark]: T;
}

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

type ResolvedKey<K, V> = K extends string
  ? [Exclude<V, undefined>] extends [DurationText]
    ? `${Camel<K>}Ms`
    : [Exclude<V, undefined>] extends [SizeText]
      ? `${Camel<K>}Bytes`
      : Camel<K>
  : K;

/** The program's form of what the file contains. Maps of sections become a ReadonlyMap in the file's order. */
export type Resolved<T> = T extends DurationText | SizeText
  ? number
  : T extends AsWritten<infer Written>
    ? Written
    : T extends readonly (infer E)[]
      ? readonly Resolved<E>[]
      : T extends object
        ? string extends keyof T
          ? T[keyof T] extends object
            ? ReadonlyMap<string, Resolved<T[keyof T]>>
            : Readonly<T>
          : { readonly [K in keyof T as ResolvedKey<K, T[K]>]: Resolved<T[K]> }
        : T;

/** Kinds of things to which the configuration refers by name. */
export type NameKind = "search engine" | "decision backend";
/** The names that exist. They are passed in, since the rooms that know them are on higher floors. */
export type KnownNames = Readonly<Record<NameKind, readonly string[]>>;

/** Annotations of a node for read.ts, besides TypeBox's own. */
export interface Annotations {
  readonly type?: string;
  readonly format?: FormatName | "duration" | "size";
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly enum?: readonly string[];
  /** The text, or the keys of the map, are names of this kind. */
  readonly names?: NameKind;
  /** Never shown in a message, a log or a dump. */
  readonly secret?: boolean;
  /** An empty text is allowed and means "not set". */
  readonly blank?: boolean;
  /** Bounds of a duration in ms, or of a size in bytes. */
  readonly least?: number;
  readonly most?: number;
  /** Entries that a map always has; written ones override them key by key. */
  readonly entries?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The keys of this group are not renamed. */
  readonly asWritten?: boolean;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

// JavaScript stores the delay of a timer in 32 bits. A longer one would fire immediately.
const TIMER_MS_MAX = 2 ** 31 - 1;
// A hundred years, so that sums with the current time stay exact.
const AGE_MS_MAX = 36_500 * 86_400_000;
/** Keys of maps: provider, tier, engine and OAuth names. They are used in ids, headers and metric labels. */
export const NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

/** A group of keys; every key in it has a default or is optional. */
export function section<P extends TProperties>(description: string, properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, description, default: {} });
}

/** An entry of a list; its keys without a default are required. */
export function entry<P extends TProperties>(description: string, properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, description });
}

/** Named entries. */
export function map<S extends TSchema>(
  description: string,
  value: S,
  { entries = {}, names }: Pick<Annotations, "entries" | "names"> = {},
) {
  return Type.Record(Type.String({ pattern: NAME_PATTERN }), value, {
    additionalProperties: false,
    description,
    default: {},
    entries,
    ...(names === undefined ? {} : { names }),
  });
}

/** A group of optional keys that another room declares; the program uses the file's names for them. */
export function asWritten<S extends TObject>(schema: S) {
  return Type.Unsafe<AsWritten<Readonly<Static<S>>>>({ ...schema, asWritten: true, default: {} });
}

/** A list. */
export function list<S extends TSchema>(description: string, items: S, options: Annotations = {}) {
  return Type.Array(items, { description, default: [], ...options });
}

/** Any text. */
export function text(description: string, fallback = "", options: Annotations = {}) {
  return Type.String({ description, default: fallback, blank: true, ...options });
}

/** Non-empty text. */
export function required(description: string) {
  return Type.String({ description });
}

/** Text of a format in formats.ts; an empty fallback allows an empty text. */
export function formatted(format: FormatName, description: string, fallback = "", options: Annotations = {}) {
  return Type.String({ format, description, default: fallback, blank: fallback === "", ...options });
}

/** A name of one of the things of a kind. */
export function nameOf(kind: NameKind, description: string, fallback: string) {
  return Type.String({ description, default: fallback, names: kind });
}

/** One element of a list of such texts. */
export function element(format: FormatName) {
  return Type.String({ format });
}

/** A switch. */
export function flag(description: string, fallback: boolean) {
  return Type.Boolean({ description, default: fallback });
}

/** A whole number. */
export function integer(description: string, fallback: number, range: { minimum: number; maximum?: number }) {
  return Type.Integer({ description, default: fallback, ...range });
}

/** A number. */
export function number(description: string, fallback: number, range: { minimum: number; maximum?: number }) {
  return Type.Number({ description, default: fallback, ...range });
}

/** An enumeration. */
export function choice<const C extends string>(description: string, fallback: C, choices: readonly C[]) {
  return Type.Unsafe<C>({ type: "string", enum: choices, description, default: fallback });
}

/** A waiting time: short enough for a timer and, unless `least` is 0, not zero. */
export function duration(description: string, fallback: string, least = 1) {
  const bounds = { least, most: TIMER_MS_MAX };
  return Type.Unsafe<DurationText>({ type: "string", format: "duration", description, default: fallback, ...bounds });
}

/** An age, possibly of years. */
export function age(description: string, fallback: string, least = 1) {
  const bounds = { least, most: AGE_MS_MAX };
  return Type.Unsafe<DurationText>({ type: "string", format: "duration", description, default: fallback, ...bounds });
}

/** A number of bytes. */
export function size(description: string, fallback: string, range: { least: number; most: number }) {
  return Type.Unsafe<SizeText>({ type: "string", format: "size", description, default: fallback, ...range });
}

/** An optional key, which is then absent from the program's form too. */
export function optional<S extends TSchema>(schema: S) {
  const { default: _none, ...rest } = schema;
  return Type.Optional(rest as S);
}

/** The form in which the program uses values of a schema. */
export type ResolvedStatic<S extends TSchema> = Resolved<Static<S>>;
