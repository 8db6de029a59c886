// Distinguishes JSON objects from other JSON values, and compares values.

/** True for a JSON object: neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The entry of a table under a name that may come from outside; undefined if there is none. A plain read would also find what
 * every object has, such as `constructor`.
 */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The JSON of a value, the same for values that differ only in the order of members. */
export function inOneOrder(json: unknown): string {
  return JSON.stringify(json, (_name, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}
