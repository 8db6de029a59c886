// Reads JSON of unknown shape: a value of the wrong type is undefined, never an exception. Upstreams are not trusted to
// follow their own protocol.

/** A JSON object. */
export type Loose = Readonly<Record<string, unknown>>;

/** The object, or an empty one. */
export function asRecord(value: unknown): Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : {};
}

/** The list, or an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A finite number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A token count: a finite, non-negative integer. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number === undefined || number < 0 ? undefined : Math.trunc(number);
}

/** The JSON object in the text; undefined for anything else. */
export function parseRecord(text: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : undefined;
  } catch {
    return undefined;
  }
}
