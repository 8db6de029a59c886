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
