// The document's errors: which ones an endpoint may return, and their format.

import { type TSchema, Type } from "@sinclair/typebox";
import { ERROR_HELP } from "../base/error-help.ts";
import { ERRORS, type ErrorCode } from "../base/errors.ts";
import type { Access, ApiEndpoint } from "../http/endpoint.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

const OF_ANY_KEY = [
  "missing_api_key",
  "invalid_api_key",
  "email_not_verified",
  "key_disabled",
  "address_not_allowed",
] as const;

const OF_ACCESS: Readonly<Record<Access, readonly ErrorCode[]>> = {
  open: [],
  key: [...OF_ANY_KEY, "management_key_not_allowed"],
  management: [...OF_ANY_KEY, "management_key_required"],
  any_key: OF_ANY_KEY,
  counted: [
    ...OF_ANY_KEY,
    "management_key_not_allowed",
    "trial_expired",
    "subscription_inactive",
    "budget_exceeded",
    "rate_limit_exceeded",
  ],
  token: ["missing_token", "invalid_token", "expired_token"],
};

const OF_BODIES: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_json",
  "request_too_large",
  "request_timeout",
  "server_busy",
];

/** Statuses that a provider's refusal of the request keeps, for endpoints that show it. */
const OF_REFUSALS = [404, 413];

/** Every code that the endpoint may return, by status. */
export function errorsOf(endpoint: ApiEndpoint, closable: boolean): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    // The edge refuses unreadable paths and Host headers.
    "invalid_request",
    ...OF_ACCESS[endpoint.access],
    ...(endpoint.body === undefined ? [] : OF_BODIES),
    ...(usesStore(endpoint) ? (["server_busy"] as const) : []),
    ...(endpoint.errors ?? []),
    ...(closable ? (["service_maintenance"] as const) : []),
    "internal_error",
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of CODES) {
    if (!codes.has(code)) continue;
    const status = endpoint.errorShape?.statusOf(code) ?? ERRORS[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  // Whoever shows that a provider has no such model shows its other refusals too.
  if (codes.has("provider_model_missing")) {
    for (const status of OF_REFUSALS) byStatus.set(status, ["invalid_request", ...(byStatus.get(status) ?? [])]);
  }
  return byStatus;
}

/** Whether the endpoint reads or writes the database, which may not answer at the moment. */
function usesStore({ access, path }: ApiEndpoint): boolean {
  return access !== "open" || /^\/v\d\//.test(path);
}

/** Whether the endpoint may fail with this status and a body without a code of ours. */
export function mayFailOtherwise({ otherFailures = [] }: ApiEndpoint, status: number): boolean {
  const range = `${Math.floor(status / 100)}XX`;
  return otherFailures.some((one) => one.status === status || one.status === range);
}

/** An error of every endpoint; `type` and `request_id` are present if a format's clients read them. */
export const ERROR: TSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: "What happened, as text for people." }),
      type: Type.Unsafe<string>({
        type: "string",
        enum: [...new Set(CODES.map((code) => ERRORS[code].type))],
        description: "The sort of error.",
      }),
      code: Type.Union([Type.Unsafe<string>({ type: "string", enum: CODES }), Type.String()], {
        description: "The code for programs: one of the gateway's codes, or the provider's own code if it says more.",
      }),
      param: Type.Unsafe<string | null>({
        type: ["string", "null"],
        description: "Path of the parameter at fault, as `messages[0].content`.",
      }),
      details: Type.Optional(Type.Unknown({ description: "What a program may read beside the code." })),
    }),
  },
  { $id: "Error", additionalProperties: true, description: "What every failed request is answered with." },
);

/** An example of each of these codes. */
export function errorExamples(used: ReadonlySet<ErrorCode>): Record<string, { summary: string; value: unknown }> {
  return Object.fromEntries(
    CODES.filter((code) => used.has(code)).map((code) => {
      const { type } = ERRORS[code];
      const help = ERROR_HELP[code];
      return [code, { summary: help, value: { error: { message: help, type, code, param: null } } }];
    }),
  );
}
