// What an account does not have: for it, what belongs to others does not exist either.

import { ApiError } from "../../base/errors.ts";

/** The 404 for a missing file, also if a chat request names it. */
export function fileNotFound(id: string, param: string | null = null): ApiError {
  return new ApiError("file_not_found", `There is no file '${id.slice(0, 100)}'.`, { param });
}

/** The 404 for a conversation that this account does not have. */
export function conversationNotFound(id: string): ApiError {
  return new ApiError(
    "conversation_not_found",
    `There is no conversation '${id.slice(0, 100)}': it may have been deleted or have expired.`,
  );
}

/** The 404 for a thread that this account does not have. */
export function threadNotFound(threadId: string): ApiError {
  return new ApiError(
    "thread_not_found",
    `There is no thread '${threadId.slice(0, 100)}': it may have been deleted or have expired.`,
  );
}
