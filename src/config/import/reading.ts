// Reads unvalidated values of another program's configuration.

import { isRecord } from "../../base/json-object.ts";

/** The members of a mapping. */
export type Mapping = Readonly<Record<string, unknown>>;

/** The value as a mapping; undefined if it is not one. */
export function mappingOf(value: unknown): Mapping | undefined {
  return isRecord(value) ? value : undefined;
}

/** The value as a list; undefined if it is not one. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The texts of a list, or a single text. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return (listOf(value) ?? []).filter((one) => typeof one === "string");
}

/** Maximum number of notes; a hostile file could cause any number. */
const NOTES_MAX = 500;

/** What could not be converted. */
export class Notes {
  readonly #lines: string[] = [];

  /** Notes a path of the file, with the reason if there is one. */
  add(place: string, reason = "has no counterpart here"): void {
    if (this.#lines.length < NOTES_MAX) this.#lines.push(`${oneLine(place)}: ${oneLine(reason)}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

/** Names come from the file: they must not end the comment that they are written into. */
function oneLine(text: string): string {
  const plain = text.replace(/\p{Cc}+/gu, " ");
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}

/** A whole number of at least `least`. */
export function wholeNumberOf(value: unknown, least = 1): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least ? value : undefined;
}

/** The longest duration that any key takes. */
const SECONDS_MAX = 2_000_000;

/** A number of seconds as a duration. */
export function durationOf(seconds: unknown): string | undefined {
  return typeof seconds === "number" && seconds > 0 && seconds <= SECONDS_MAX
    ? `${Math.ceil(seconds * 1000)}ms`
    : undefined;
}

/** `os.environ/NAME` names a variable. */
export function environNameOf(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text.trim())?.[1];
}

/** The value in this program's file format. */
export function fileTextOf(text: string): string {
  const name = environNameOf(text);
  return name === undefined ? text.replaceAll("${", "$${") : `\${${name}}`;
}

/** The values of a list in this program's file format. */
export function fileValuesOf(value: unknown): readonly string[] {
  return (listOf(value) ?? []).flatMap(plainTextOf);
}

/** The values of a mapping, in this program's file format. */
export function fileTextsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(mappingOf(value) ?? {}).flatMap(([name, one]) => plainTextOf(one).map((text) => [name, text])),
  );
}

/** YAML reads `8080` as a number where a text is meant. */
function plainTextOf(value: unknown): readonly string[] {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? [fileTextOf(String(value))] : [];
}
