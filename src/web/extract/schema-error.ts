// The error for a caller's schema that cannot be used.

/** Thrown for a schema that cannot be used. */
export class SchemaError extends Error {
  override name = "SchemaError";
  /** The JSON pointer to the error; "" is the schema itself. */
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/** A name as a step of a JSON pointer. */
export function escapePointer(name: string): string {
  return name.replace(/~/g, "~0").replace(/\//g, "~1");
}
