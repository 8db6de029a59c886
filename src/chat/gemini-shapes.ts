// What clients of Gemini's API read besides the answer itself, whether it was relayed or translated: errors and usage.
// Sources: google.aip.dev/193, google.rpc.Code, ai.google.dev/api/generate-content; 2026-11.

import { ERRORS, type ErrorBody, type ErrorCode, type ErrorType } from "../base/errors.ts";
import type { Usage } from "./event.ts";

/** The words for the statuses. */
const WORDS: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** The statuses of errors with a code of a provider. */
const STATUSES: Readonly<Record<ErrorType, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  provider_error: 502,
  api_error: 500,
  not_implemented_error: 501,
  overloaded_error: 503,
};

/** The body of an error. The code is that of the other formats. `known`: the status of the response. */
export function geminiEnvelope(
  { message, code, param, type }: ErrorBody,
  requestId: string,
  known?: number,
): Record<string, unknown> {
  const own = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].status : undefined;
  const status = known ?? own ?? STATUSES[type] ?? 500;
  const metadata = { type, ...(param === null ? {} : { param }), request_id: requestId };
  const info = { reason: code, domain: "sallyport", metadata };
  return { error: { code: status, message, status: WORDS[status] ?? "INVALID_ARGUMENT", details: [info] } };
}

/** The usage as `usageMetadata`, which counts thoughts apart from the answer. */
export function geminiUsageMetadata(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens, reasoningTokens, cachedTokens, webSearches, costUsd } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens - (reasoningTokens ?? 0),
    totalTokenCount: inputTokens + outputTokens,
    ...(cachedTokens ? { cachedContentTokenCount: cachedTokens } : {}),
    ...(reasoningTokens ? { thoughtsTokenCount: reasoningTokens } : {}),
    // No member of the protocol; what a provider itself searched stands beside the text.
    ...(webSearches === undefined ? {} : { webSearches }),
    ...(costUsd === undefined ? {} : { cost: costUsd }),
  };
}
