// Keys that were made to keep nothing: what they send is answered and forgotten.

import { ApiError } from "../base/errors.ts";
import type { Caller } from "./caller.ts";

/** Whose request it is, as far as keeping its text goes. */
export type TextOwner = Pick<Caller, "accountId" | "noStore">;

/** Throws 403 where the caller's key keeps nothing. `param`: what asks for it. */
export function requireKeeping({ noStore }: Pick<TextOwner, "noStore">, param?: string): void {
  if (!noStore) return;
  const message = "This key was made to keep nothing that its requests say.";
  throw new ApiError("storage_not_allowed", message, param === undefined ? {} : { param });
}
