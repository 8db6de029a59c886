// What the validation of all endpoints for models that do not chat shares.

import { ApiError } from "../../base/errors.ts";

/** Whether it is an integer above 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** Throws 400 that names the parameter and what was expected. */
export function refuseParam(param: string, expected: string): never {
  throw new ApiError("invalid_request", `'${param}' must be ${expected}.`, { param });
}
