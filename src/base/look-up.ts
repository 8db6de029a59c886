// Look-ups by untrusted keys: `constructor` and `__proto__` are not entries of an object literal.

/** The entry of that name; undefined if the table itself has none. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
