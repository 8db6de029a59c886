// The ways a command ends badly, told apart by their exit codes.

/** The arguments are wrong: exit 2 and this one line. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Someone pressed Ctrl-C: exit 130, as shells have it. */
export class Interrupted extends Error {
  override name = "Interrupted";
  constructor() {
    super("interrupted");
  }
}

/** The command failed: exit 1 and this text, one line a problem. */
export class CommandError extends Error {
  override name = "CommandError";
}
