// The only table of public error codes. Throw `ApiError` at the edge and in policy; lower floors throw their own error
// types (such as `UpstreamFault`), which policy translates. After the first byte of a stream nothing throws: an error event ends it.
// Unknown errors give a fixed public text, and their cause is logged under the request id; nothing is logged and thrown again.
// The list for clients is docs/reference/errors.md.

/** Public error categories (`error.type`). */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "billing_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "provider_error"
  | "api_error"
  | "not_implemented_error"
  | "overloaded_error";

interface Row {
  readonly status: number;
  readonly type: ErrorType;
}

const row = (status: number, type: ErrorType): Row => ({ status, type });

type WebFeature = "search" | "scrape" | "crawl" | "map" | "extract" | "llmstxt";
type WebFault = "timeout" | "upstream_error" | "unavailable" | "internal_error";

/** The four codes every web feature has (docs/reference/errors.md); typed so that a typo fails to compile. */
function webRows<F extends WebFeature>(feature: F): Record<`${F}_${WebFault}`, Row> {
  return {
    [`${feature}_timeout`]: row(504, "provider_error"),
    [`${feature}_upstream_error`]: row(502, "provider_error"),
    [`${feature}_unavailable`]: row(502, "provider_error"),
    [`${feature}_internal_error`]: row(500, "api_error"),
  } as Record<`${F}_${WebFault}`, Row>;
}

/** code → status and type. */
export const ERRORS = {
  invalid_request: row(400, "invalid_request_error"),
  invalid_json: row(400, "invalid_request_error"),
  wrong_model_family: row(400, "invalid_request_error"),
  image_input_not_supported: row(400, "invalid_request_error"),
  tools_not_supported: row(400, "invalid_request_error"),
  max_tokens_exceeded: row(400, "invalid_request_error"),
  mcp_server_unavailable: row(502, "provider_error"),
  invalid_block: row(400, "invalid_request_error"),
  unsupported_parameter: row(400, "invalid_request_error"),
  content_policy_violation: row(400, "invalid_request_error"),
  guardrail_denied: row(400, "invalid_request_error"),
  context_length_exceeded: row(400, "invalid_request_error"),
  invalid_compaction: row(400, "invalid_request_error"),
  previous_response_not_found: row(400, "invalid_request_error"),
  websocket_stream_limit_reached: row(400, "invalid_request_error"),
  websocket_connection_limit_reached: row(400, "invalid_request_error"),
  invalid_redirect_uri: row(400, "invalid_request_error"),
  invalid_state: row(400, "invalid_request_error"),
  invalid_code: row(400, "invalid_request_error"),
  url_not_allowed: row(400, "invalid_request_error"),
  route_not_found: row(404, "not_found_error"),
  not_offered: row(404, "not_found_error"),
  provider_not_found: row(404, "not_found_error"),
  model_not_found: row(404, "invalid_request_error"),
  response_not_found: row(404, "not_found_error"),
  thread_not_found: row(404, "not_found_error"),
  conversation_not_found: row(404, "not_found_error"),
  conversation_item_not_found: row(404, "not_found_error"),
  file_not_found: row(404, "not_found_error"),
  oauth_provider_not_found: row(404, "not_found_error"),
  session_not_found: row(404, "not_found_error"),
  key_not_found: row(404, "not_found_error"),
  account_not_found: row(404, "not_found_error"),
  project_not_found: row(404, "not_found_error"),
  project_member_not_found: row(404, "not_found_error"),
  invite_not_found: row(404, "not_found_error"),
  generation_not_found: row(404, "not_found_error"),
  run_not_found: row(404, "not_found_error"),
  job_not_found: row(404, "not_found_error"),
  crawl_job_not_found: row(404, "not_found_error"),
  extract_job_not_found: row(404, "not_found_error"),
  llmstxt_job_not_found: row(404, "not_found_error"),
  method_not_allowed: row(405, "invalid_request_error"),
  request_timeout: row(408, "invalid_request_error"),
  request_too_large: row(413, "invalid_request_error"),
  context_too_large: row(413, "invalid_request_error"),
  invalid_question: row(422, "invalid_request_error"),
  scrape_failed: row(422, "invalid_request_error"),
  upgrade_required: row(426, "invalid_request_error"),
  missing_api_key: row(401, "authentication_error"),
  invalid_api_key: row(401, "authentication_error"),
  missing_token: row(401, "authentication_error"),
  invalid_token: row(401, "authentication_error"),
  expired_token: row(401, "authentication_error"),
  invalid_credentials: row(401, "authentication_error"),
  invalid_refresh_token: row(401, "authentication_error"),
  expired_refresh_token: row(401, "authentication_error"),
  refresh_token_reused: row(401, "authentication_error"),
  trial_expired: row(402, "billing_error"),
  subscription_inactive: row(402, "billing_error"),
  budget_exceeded: row(402, "billing_error"),
  run_limit_reached: row(402, "billing_error"),
  tier_required: row(403, "permission_error"),
  permission_denied: row(403, "permission_error"),
  management_key_required: row(403, "permission_error"),
  management_key_not_allowed: row(403, "permission_error"),
  project_role_required: row(403, "permission_error"),
  project_last_owner: row(400, "invalid_request_error"),
  key_disabled: row(403, "permission_error"),
  address_not_allowed: row(403, "permission_error"),
  storage_not_allowed: row(403, "permission_error"),
  email_not_verified: row(403, "permission_error"),
  signup_closed: row(403, "permission_error"),
  invite_required: row(403, "permission_error"),
  origin_not_allowed: row(403, "permission_error"),
  rate_limit_exceeded: row(429, "rate_limit_error"),
  provider_rate_limited: row(429, "rate_limit_error"),
  code_recently_sent: row(429, "rate_limit_error"),
  too_many_attempts: row(429, "rate_limit_error"),
  internal_error: row(500, "api_error"),
  not_implemented: row(501, "not_implemented_error"),
  provider_unavailable: row(502, "provider_error"),
  provider_auth_failed: row(502, "provider_error"),
  provider_model_missing: row(502, "provider_error"),
  provider_stream_interrupted: row(502, "provider_error"),
  provider_answer_invalid: row(502, "provider_error"),
  tool_arguments_invalid: row(502, "provider_error"),
  provider_circuit_open: row(503, "overloaded_error"),
  service_maintenance: row(503, "overloaded_error"),
  server_busy: row(503, "overloaded_error"),
  decision_unavailable: row(503, "overloaded_error"),
  provider_timeout: row(504, "provider_error"),
  ...webRows("search"),
  ...webRows("scrape"),
  ...webRows("crawl"),
  ...webRows("map"),
  ...webRows("extract"),
  ...webRows("llmstxt"),
} as const satisfies Record<string, Row>;

/** A public error code. */
export type ErrorCode = keyof typeof ERRORS;

/** Options of an error besides the message. */
export interface ApiErrorDetail {
  /** JSON path of the invalid request parameter, such as `messages[0].content`. */
  readonly param?: string | null;
  /** Seconds for the `Retry-After` header; rounded up, at least 1. */
  readonly retryAfterSeconds?: number;
  /** Machine-readable details besides the code, shown as `error.details`. */
  readonly details?: unknown;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A different status than the code's own. */
  readonly status?: number;
  /** A provider's own code, shown instead of ours, and its details. */
  readonly upstream?: { readonly code: string; readonly details?: unknown };
  /** Further top-level members of the body beside `error` (a job's `job_id`). */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The model that the client asked for, if it cannot have it; kept in the request log. */
  readonly asked?: string;
  /** Logged under the request id, never shown. */
  readonly cause?: unknown;
}

/** The JSON inside `error`. */
export interface ErrorBody {
  message: string;
  type: ErrorType;
  code: string;
  param: string | null;
  details?: unknown;
}

/** An error that the client gets as an HTTP response. `message` is public. */
export class ApiError extends Error {
  // Not named `code`: Elysia dispatches on an error's own `code` property.
  readonly apiCode: ErrorCode;
  readonly detail: ApiErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ApiErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.name = "ApiError";
    this.apiCode = code;
    this.detail = detail;
  }

  get status(): number {
    return this.detail.status ?? ERRORS[this.apiCode].status;
  }

  /** The public JSON of this error (docs/reference/errors.md). */
  body(): ErrorBody {
    const { param, upstream } = this.detail;
    const details = this.detail.details ?? upstream?.details;
    return {
      message: this.message,
      type: ERRORS[this.apiCode].type,
      code: upstream?.code ?? this.apiCode,
      param: param ?? null,
      ...(details === undefined ? {} : { details }),
    };
  }
}
