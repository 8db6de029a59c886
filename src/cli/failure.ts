// The two ways a command ends badly, told apart by their exit codes.

/** The arguments are wrong: exit 2 and this one line. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The command failed: exit 1 and this text, one line a problem. */
export class CommandError extends Error {
  override name = "CommandError";
}
