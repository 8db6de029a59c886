// Tables whose keys are untrusted: `constructor` and `__proto__` are no entries of an object literal.

/** The entry of that name; undefined where the table itself has none. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
