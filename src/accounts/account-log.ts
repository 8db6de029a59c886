// What accounts write to the log.

/** Writes a line; the fields stand beside the message. */
type Write = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The log, as far as accounts need it. */
export interface AccountLog {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
