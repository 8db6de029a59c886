import { expect, test } from "bun:test";
import { ApiError, ERRORS, type ErrorType } from "../../src/base/errors.ts";

// The statuses of each error type, as in docs/reference/errors.md.
const STATUSES: Record<ErrorType, readonly number[]> = {
  invalid_request_error: [400, 404, 405, 408, 413, 422, 426],
  authentication_error: [401],
  billing_error: [402],
  permission_error: [403],
  not_found_error: [404],
  rate_limit_error: [429],
  provider_error: [502, 504],
  api_error: [500],
  not_implemented_error: [501],
  overloaded_error: [503],
};

test("every code has a status that its type allows", () => {
  for (const [code, { status, type }] of Object.entries(ERRORS)) {
    expect(STATUSES[type], code).toContain(status);
  }
});

test("the body has exactly the four fields of the specification", () => {
  expect(new ApiError("tier_required", "Needs pro.").body()).toEqual({
    message: "Needs pro.",
    type: "permission_error",
    code: "tier_required",
    param: null,
  });
  expect(new ApiError("invalid_request", "x", { param: "messages[0].role" }).body().param).toBe("messages[0].role");
});
