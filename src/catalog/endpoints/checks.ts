// What the checks of all endpoints for models that do not chat have in common.

import { ApiError } from "../../base/errors.ts";

/** Whether it is a whole number above 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** Throws 400 that names the parameter and what it must be. */
export function refuseParam(param: string, expected: string): never {
  throw new ApiError("invalid_request", `'${param}' must be ${expected}.`, { param });
}
