// The values that verbs accept: whole milliseconds, and texts that every database can store. The engines would store
// others differently, so they are refused as mistakes of the caller.

import { customType } from "drizzle-orm/sqlite-core";
import { isStorable } from "../base/storable.ts";

/** A column for a time or duration in whole milliseconds. Writing any other value, or comparing with it, throws. */
export const wholeMs = customType<{ data: number; driverData: number }>({
  dataType: () => "integer",
  toDriver: requireWhole,
});

/** Returns the number; throws TypeError unless it is an exact integer. */
export function requireWhole(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new TypeError(`The store takes whole numbers, not ${value}.`);
}

/** Throws TypeError naming the first of these texts that not every database can store. */
export function requireStorable(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text !== null && text !== undefined && !isStorable(text))
      throw new TypeError(`${name} holds a NUL character or half a character.`);
  }
}
