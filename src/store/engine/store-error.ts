// What the store throws when the database itself is the problem; the message is meant for an operator's terminal.

/** The database cannot be used as asked. */
export class StoreError extends Error {
  override name = "StoreError";
}
