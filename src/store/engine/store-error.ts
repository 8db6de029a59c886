// The error for problems with the database itself. Its message is shown to the operator in the terminal.

/** The database cannot be used as requested. */
export class StoreError extends Error {
  override name = "StoreError";
}
