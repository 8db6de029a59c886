// Error responses of providers in every protocol, with the expected results: for the client, for the provider's
// breaker, and for secrets in the text.

import type { DialectName } from "./fake-model.ts";

type Json = Record<string, unknown>;

/** The provider's key and the operator's account there, which must never reach a client. */
export const SECRET = "up-planted-key-0123456789";
export const ORGANISATION = "org-Pl4nt3dOrganis4tion01";
export const PLAN = "check your plan and billing details";
/** A second provider, within the operator's network. */
export const INTERNAL = "http://10.4.0.7:8000";
/** The part of every provider's error that is the same in all cases. */
export const LEAKY = `key ${SECRET} of ${ORGANISATION} at ${INTERNAL}/v1 (10.4.0.7:8000, 10.4.0.7)`;

/** A provider's description of a failure, independent of the protocol. */
export interface FaultWords {
  status: number;
  message: string;
  code?: string;
  /** The category in the terms of OpenAI, Anthropic and Gemini. */
  types: readonly [string, string, string];
  param?: string;
  details?: Json;
}

/** The body of an HTTP error, in each protocol. */
export function faultBody(dialect: DialectName, { status, message, code, types, param, details }: FaultWords): Json {
  if (dialect === "gemini") return { error: { code: status, message, status: types[2] } };
  if (dialect === "anthropic-messages") {
    const more = code === undefined ? details : { ...details, error_code: code };
    return { type: "error", error: { type: types[1], message, ...(more === undefined ? {} : { details: more }) } };
  }
  return {
    error: { message, type: types[0], code: code ?? null, param: param ?? null, ...(details ? { details } : {}) },
  };
}

/** The frame that reports the error within a stream. */
export function faultFrame(dialect: DialectName, words: FaultWords): string {
  const body = faultBody(dialect, words);
  if (dialect === "anthropic-messages") return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  if (dialect === "openai-responses") {
    const response = { id: "resp_up", object: "response", status: "failed", output: [], error: body["error"] };
    const failed = { type: "response.failed", sequence_number: 9, response };
    return `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`;
  }
  return `data: ${JSON.stringify(body)}\n\n`;
}

export interface FaultCase {
  name: string;
  words: FaultWords;
  headers?: Record<string, string>;
  told: {
    status: number;
    code: string;
    /** The message for the client; absent: a message of ours that contains no text of the provider's. */
    says?: string;
    param?: string;
    details?: Json;
    retryAfter?: string;
  };
  /** Whether the provider's breaker counts the failure. */
  counts: boolean;
  /** The result with Gemini, which has no error codes. */
  plain?: FaultCase["told"];
}

const REQUEST = ["invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"] as const;
const refused = (status: number, more: Partial<FaultWords> = {}): FaultWords => ({
  status,
  message: `No such thing; ${LEAKY}`,
  types: REQUEST,
  ...more,
});
const SCRUBBED = "key [redacted] of [redacted] at [redacted]/v1 ([redacted], [redacted])";
const BILLING = ["billing_error", "billing_error", "PERMISSION_DENIED"] as const;
const SAYS = `No such thing; ${SCRUBBED}`;
const limits = { "x-ratelimit-limit-requests": "12345", "anthropic-ratelimit-requests-limit": SECRET };

/** Codes with which vendors refuse a request for its content. */
export const REFUSAL_CODES = [
  "cyber_policy",
  "bio_policy",
  "data_residency_mismatch",
  "misalignment_policy_violation",
  "content_policy_violation",
  "invalid_prompt",
] as const;

/** Codes with which vendors refuse every request of the operator's account. */
const ACCOUNT_CODES = [
  "contract_spend_limit_reached",
  "organization_on_hold",
  "organization_type_not_supported",
  "parent_organization_required",
  "cmek_key_disabled",
  "cmek_key_network_blocked",
] as const;

const byPolicy = (code: string, status = 400): FaultCase => ({
  name: `${status} ${code}`,
  words: refused(status, { code }),
  told: { status: 400, code, says: SAYS },
  counts: false,
  // Gemini's errors have no codes.
  ...(status === 403 ? { plain: { status: 502, code: "provider_auth_failed" } } : {}),
});

/** HTTP errors. */
export const HTTP_FAULTS: readonly FaultCase[] = [
  {
    name: "400 with code, param and details",
    words: refused(400, {
      code: "invalid_function_parameters",
      param: `tools[0].${SECRET}`,
      details: { unsupported: ["thread"], note: LEAKY },
    }),
    told: {
      status: 400,
      code: "invalid_function_parameters",
      says: SAYS,
      param: "tools[0].[redacted]",
      details: { unsupported: ["thread"], note: SCRUBBED },
    },
    counts: false,
  },
  {
    name: "400 whose code is no word",
    words: refused(400, { code: `Bad ${SECRET}`, details: { note: LEAKY } }),
    told: { status: 400, code: "invalid_request", says: SAYS },
    counts: false,
  },
  {
    name: "400 whose code is our key",
    words: refused(400, { code: SECRET.replaceAll("-", "_") }),
    told: { status: 400, code: "invalid_request", says: SAYS },
    counts: false,
  },
  ...REFUSAL_CODES.map((code) => byPolicy(code)),
  byPolicy("cyber_policy", 403),
  {
    name: "403 that refuses the content in words",
    words: refused(403, { message: `Content violates usage guidelines. ${LEAKY}` }),
    told: {
      status: 400,
      code: "content_policy_violation",
      says: `Content violates usage guidelines. ${SCRUBBED}`,
    },
    counts: false,
    plain: {
      status: 400,
      code: "content_policy_violation",
      says: `Content violates usage guidelines. ${SCRUBBED}`,
    },
  },
  {
    name: "402 of the operator's contract",
    words: { ...refused(402, { code: "contract_spend_limit_reached" }), types: BILLING },
    told: { status: 502, code: "provider_auth_failed" },
    counts: false,
  },
  ...ACCOUNT_CODES.map((code) => ({
    name: `400 of the operator's account, ${code}`,
    words: refused(400, { code }),
    told: { status: 502, code: "provider_auth_failed" },
    counts: false,
    plain: { status: 400, code: "invalid_request", says: SAYS },
  })),
  {
    name: "400 for the size of an image",
    words: refused(400, { code: "image_dimensions_too_large" }),
    told: { status: 400, code: "image_dimensions_too_large", says: SAYS },
    counts: false,
  },
  { name: "413", words: refused(413), told: { status: 413, code: "invalid_request", says: SAYS }, counts: false },
  {
    name: "422 with a code",
    words: refused(422, { code: "content_policy_violation" }),
    told: { status: 400, code: "content_policy_violation", says: SAYS },
    counts: false,
  },
  {
    name: "a prompt that does not fit",
    words: refused(400, { message: `prompt is too long; ${LEAKY}`, code: "context_length_exceeded" }),
    told: { status: 400, code: "context_length_exceeded", says: `prompt is too long; ${SCRUBBED}` },
    counts: false,
  },
  {
    name: "our account's limit told with 400",
    words: refused(400, { code: "billing_hard_limit_reached", message: PLAN }),
    told: { status: 502, code: "provider_auth_failed" },
    counts: false,
    plain: { status: 400, code: "invalid_request", says: PLAN },
  },
  ...[
    "Your credit balance is too low to use the API.",
    "Your organization must be verified to stream this model.",
    "User location is not supported for the API use.",
  ].map((message) => ({
    name: `400: ${message}`,
    words: refused(400, { message: `${message} ${LEAKY}`, code: "unsupported_value" }),
    told: { status: 502, code: "provider_auth_failed" },
    counts: false,
  })),
  {
    name: "400 that repeats such words of the client's",
    words: refused(400, { message: "Invalid value: 'your credit balance is too low'", code: "invalid_value" }),
    told: {
      status: 400,
      code: "invalid_value",
      says: "Invalid value: 'your credit balance is too low'",
    },
    counts: false,
  },
  ...[401, 402, 403].map((status) => ({
    name: String(status),
    words: { ...refused(status), types: ["authentication_error", "authentication_error", "UNAUTHENTICATED"] as const },
    told: { status: 502, code: "provider_auth_failed" },
    counts: false,
  })),
  {
    name: "404",
    words: { ...refused(404), types: ["invalid_request_error", "not_found_error", "NOT_FOUND"] },
    told: { status: 502, code: "provider_model_missing" },
    counts: false,
  },
  {
    name: "429 that tells the plan",
    words: {
      status: 429,
      message: `You exceeded your quota, ${PLAN}. ${LEAKY}`,
      code: "insufficient_quota",
      types: ["insufficient_quota", "rate_limit_error", "RESOURCE_EXHAUSTED"],
    },
    headers: { "retry-after": "7", ...limits },
    told: { status: 429, code: "provider_rate_limited", retryAfter: "7" },
    counts: false,
  },
  ...[500, 503, 529].map((status) => ({
    name: String(status),
    words: { ...refused(status), types: ["server_error", "overloaded_error", "UNAVAILABLE"] as const },
    headers: limits,
    told: { status: 502, code: "provider_unavailable" },
    counts: true,
  })),
];

/** An error object whose code nobody knows: the provider works, and its answer is an error. */
const UNKNOWN: FaultCase = {
  name: "an unknown code",
  words: {
    status: 599,
    message: `No such thing; ${LEAKY}`,
    code: "brand_new_thing",
    types: ["brand_new_error", "brand_new_error", "BRAND_NEW"],
  },
  told: { status: 502, code: "provider_answer_invalid", says: SAYS },
  counts: false,
};

const IN_ANSWERS = new Set([
  "400 with code, param and details",
  "a prompt that does not fit",
  "400 for the size of an image",
  "401",
  "429 that tells the plan",
  "503",
  ...REFUSAL_CODES.map((code) => `400 ${code}`),
]);

/** Errors reported with status 200: in a whole answer, in a stream, or as JSON although a stream was requested. */
export const ANSWER_FAULTS: readonly FaultCase[] = [
  ...HTTP_FAULTS.filter(({ name }) => IN_ANSWERS.has(name)).map(
    ({ headers: _headers, told: { retryAfter: _seconds, ...told }, ...one }) => ({ ...one, told }),
  ),
  UNKNOWN,
];
