// Reads JSON of unknown form. A value of the wrong type is undefined and never an exception, since upstreams may not follow their
// own protocol.

import { isRecord } from "../../base/json-object.ts";

/** A JSON object. */
export type Loose = Readonly<Record<string, unknown>>;

/** The value if it is an object, otherwise an empty object. */
export function asRecord(value: unknown): Loose {
  return isRecord(value) ? value : {};
}

/** The value if it is a list, otherwise an empty list. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a finite number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The value if it is a token count: a finite integer that is not negative. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number === undefined || number < 0 ? undefined : Math.trunc(number);
}

/** The JSON object in the text; undefined for anything else. */
export function parseRecord(text: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
