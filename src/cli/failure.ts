// The failures of a command, distinguished by their exit codes.

/** Wrong arguments: exit 2 and this one line. */
export class UsageError extends Error {
  override name = "UsageError";
  /** The command whose help says how it is called, such as `account create`; absent: the program's own help does. */
  command?: string;
}

/** Interrupted by Ctrl-C: exit 130, as shells do. */
export class Interrupted extends Error {
  override name = "Interrupted";
  constructor() {
    super("interrupted");
  }
}

/** The command failed: exit 1 and this text, one line per problem. */
export class CommandError extends Error {
  override name = "CommandError";
}
