// Keys that store nothing: the content of their requests is not kept after the answer.

import { ApiError } from "../../base/errors.ts";
import type { Caller } from "./caller.ts";

/** The members of a caller that decide whether its text is stored. */
export type TextOwner = Pick<Caller, "accountId" | "noStore">;

/** Throws 403 if the caller's key stores nothing. `param`: the parameter that requests storing. */
export function requireKeeping({ noStore }: Pick<TextOwner, "noStore">, param?: string): void {
  if (!noStore) return;
  const message =
    "This key was created so that the content of its requests is not stored. Leave this out, or use another key.";
  throw new ApiError("storage_not_allowed", message, param === undefined ? {} : { param });
}
