// The mark of errors of something that every request needs, such as the database, and that does not answer at the moment. A
// lower floor throws them; the edge answers that the client may try again.

import { ApiError } from "./errors.ts";

/** An error that the same request may not meet again in a moment. */
export interface Unreachable extends Error {
  readonly isUnreachable: true;
}

/** The codes of a disk without room, on which something may be stored again when there is some. */
const FULL: ReadonlySet<unknown> = new Set(["SQLITE_FULL", "ENOSPC", "EDQUOT"]);

/** Whether an error is that nothing can be stored for want of room. */
export function isFull(error: unknown): boolean {
  return error instanceof Error && FULL.has((error as { code?: unknown }).code);
}

/** Whether an error, or the cause of what a client is told, is that something does not answer at the moment. */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.detail.cause : error;
  return isFull(cause) || (cause instanceof Error && (cause as Partial<Unreachable>).isUnreachable === true);
}
