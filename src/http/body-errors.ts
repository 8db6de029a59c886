// The errors of request bodies that cannot be read.

import { ApiError } from "../base/errors.ts";

/** The error for a body that is too large: 413. */
export function bodyTooLarge(maxBytes: number): ApiError {
  return new ApiError("request_too_large", `The request body is larger than ${maxBytes} bytes.`);
}

/** The error for a body that does not arrive in time: 408. */
export const bodyTooSlow = () => new ApiError("request_timeout", "The request body did not arrive in time.");

/** The error if the client left in the middle of its body. Nobody reads the response, but there must be one. */
export function bodyCutOff(cause: unknown): ApiError {
  return new ApiError("invalid_request", "The request body ended early.", { cause });
}
