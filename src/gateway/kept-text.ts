// Keys that store nothing: what they send is answered and forgotten.

import { ApiError } from "../base/errors.ts";
import type { Caller } from "./caller.ts";

/** The caller, as far as storing its text is concerned. */
export type TextOwner = Pick<Caller, "accountId" | "noStore">;

/** Throws 403 if the caller's key stores nothing. `param`: what asks for storing. */
export function requireKeeping({ noStore }: Pick<TextOwner, "noStore">, param?: string): void {
  if (!noStore) return;
  const message = "This key was made to keep nothing that its requests say.";
  throw new ApiError("storage_not_allowed", message, param === undefined ? {} : { param });
}
