// Reads the string fields of account request bodies; everything else in a body is ignored.

import { ApiError } from "../base/errors.ts";
import { isStorable } from "../base/storable.ts";

/** No name, address, password or token is longer; keeps hashing and normalisation cheap. */
export const CHARS_MAX = 2048;

/** The string under the first of `names` that is present; 400 naming the first if none is, or if it is not a string. */
export function requiredText(body: Readonly<Record<string, unknown>>, ...names: [string, ...string[]]): string {
  const name = names.find((one) => body[one] !== undefined && body[one] !== null);
  if (name === undefined) throw fault(names[0], "is required");
  const value = body[name];
  if (typeof value !== "string" || value === "") throw fault(name, "must be a non-empty string");
  if (!isStorable(value)) throw fault(name, "must not contain a NUL character or an unpaired surrogate");
  if (value.length > CHARS_MAX) throw fault(name, `must have at most ${CHARS_MAX} characters`);
  return value;
}

/** The same for an optional field. */
export function optionalText(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return body[name] === undefined || body[name] === null ? undefined : requiredText(body, name);
}

function fault(param: string, what: string): ApiError {
  return new ApiError("invalid_request", `${param} ${what}.`, { param });
}
