// Validation that the endpoints for models that do not chat share.

import { ApiError } from "../../base/errors.ts";

/** Whether the value is an integer above 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** Throws `ApiError` 400 with the parameter's name and the expected value. */
export function refuseParam(param: string, expected: string): never {
  throw new ApiError("invalid_request", `'${param}' must be ${expected}.`, { param });
}
