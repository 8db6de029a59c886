// The meaning of a provider's error object. The same texts occur with an HTTP status, within a stream, and in a whole answer with
// status 200, so all of them are classified here.

import { lookUp } from "../base/look-up.ts";
import type { AnswerFault, AnswerFaultCode, ErrorWords } from "../chat/answer-fault.ts";

/** The content of a provider's error object. */
export interface FaultText extends ErrorWords {
  readonly message: string;
  /** A category of errors, if the protocol has one besides the code. */
  readonly type?: string;
  /** The HTTP status that the error object states. */
  readonly status?: number;
}

/** Phrases with which providers say that a prompt does not fit (from their documented errors and the tests of SDKs). */
const CONTEXT_LENGTH =
  /context[_ ]length|maximum context|context window|(?:context|prompt) (?:size|limit|length) is|exceeds? (?:the )?(?:available )?context|maximum prompt length|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:maximum|max) (?:number of )?(?:input )?tokens|input token count.*exceeds|reduce the length of/i;

const sayings = (code: AnswerFaultCode, words: string): [string, AnswerFaultCode][] =>
  words.split(" ").map((word) => [word, code]);

/** Codes, types and, if a server writes them into an error object, HTTP statuses. */
const WORDS: Readonly<Record<string, AnswerFaultCode>> = Object.fromEntries([
  ...sayings("invalid_request", "400 413 422 invalid_request_error invalid_request request_too_large INVALID_ARGUMENT"),
  ...sayings("invalid_request", "FAILED_PRECONDITION OUT_OF_RANGE"),
  ...sayings("context_length_exceeded", "context_length_exceeded exceed_context_size_error"),
  ...sayings("provider_auth_failed", "401 402 403 authentication_error permission_error billing_error invalid_api_key"),
  ...sayings(
    "provider_auth_failed",
    "billing_hard_limit_reached billing_not_active account_deactivated invalid_organization",
  ),
  ...sayings("provider_auth_failed", "UNAUTHENTICATED PERMISSION_DENIED"),
  ...sayings("provider_auth_failed", "contract_spend_limit_reached credit_balance_too_low payment_required"),
  ...sayings(
    "provider_auth_failed",
    "organization_on_hold organization_type_not_supported parent_organization_required",
  ),
  ...sayings("provider_auth_failed", "cmek_key_disabled cmek_key_network_blocked"),
  ...sayings("provider_model_missing", "404 not_found_error model_not_found NOT_FOUND"),
  ...sayings("provider_timeout", "408 504 timeout_error DEADLINE_EXCEEDED"),
  ...sayings("provider_rate_limited", "429 rate_limit_exceeded rate_limit_error insufficient_quota RESOURCE_EXHAUSTED"),
  ...sayings("provider_rate_limited", "too_many_requests quota_exceeded RateLimitError"),
  ...sayings("provider_unavailable", "500 502 503 529 api_error server_error overloaded_error INTERNAL UNAVAILABLE"),
  ...sayings("provider_unavailable", "vector_store_timeout overloaded InternalServerError ServiceUnavailableError"),
  ...sayings("provider_unavailable", "internal_error internal_server_error service_unavailable upstream_error"),
]);

/**
 * Codes and types with which vendors refuse a request for its content. OpenAI: `content_policy_violation`, `cyber_policy`,
 * `bio_policy`, `invalid_prompt`, `moderation_blocked`, `data_residency_mismatch`. Azure: `content_filter`,
 * `ResponsibleAIPolicyViolation`. Alibaba: `data_inspection_failed`.
 */
const REFUSAL =
  /^(?:content_policy\w*|\w+_policy|\w+_policy_violation|content_filter(?:ed)?|invalid_prompt|moderation_blocked|data_residency_mismatch|data_?inspection_?failed|ResponsibleAIPolicyViolation)$/i;

/** Beginnings of messages with which vendors refuse content without a code, some of them with a 403. */
const REFUSAL_TEXT = /^(?:content violates usage guidelines|content exists risk)/i;

/** Codes of this form mean that the request is invalid: `invalid_image_url`, `unsupported_parameter`. */
const REQUEST_CODE =
  /^(?:invalid_|unsupported_|unknown_parameter|missing_required|empty_image|image_|failed_to_download_image|string_above_|string_below_|array_above_|integer_above_|integer_below_|decimal_above_)/;

/** Codes of Anthropic's of this form are about the operator's account: `billing_disabled`, `billing_policy_required`. */
const ACCOUNT_CODE = /^billing_/;

/**
 * Messages about the operator's account that some vendors send with a 400, as if the request were invalid. Only the beginning of
 * a message is matched, since the rest may quote the client.
 */
const ACCOUNT =
  /^(?:your credit balance is too low|your organization must be verified|billing hard limit|user location is not supported)/i;

/** The gateway's code for an error's text; undefined if the text is unknown. */
export function codeOfWords(said: FaultText): AnswerFaultCode | undefined {
  if (isRefusal(said)) return "content_policy_violation";
  const known = codeOfWord(said.code) ?? codeOfWord(said.type) ?? codeOfWord(said.status?.toString());
  if ((known === undefined || known === "invalid_request") && ACCOUNT.test(said.message)) return "provider_auth_failed";
  return known === "invalid_request" && isContextLength(said) ? "context_length_exceeded" : known;
}

function codeOfWord(word: string | undefined): AnswerFaultCode | undefined {
  if (word === undefined) return undefined;
  if (ACCOUNT_CODE.test(word)) return "provider_auth_failed";
  return lookUp(WORDS, word) ?? (REQUEST_CODE.test(word) ? "invalid_request" : undefined);
}

/**
 * Whether a vendor refuses the request for its content. The request is then not sent again, to nobody, and nothing is wrong with
 * the provider.
 */
export function isRefusal({ code, type, message }: FaultText): boolean {
  return [code, type].some((word) => word !== undefined && isRefusalWord(word)) || REFUSAL_TEXT.test(message);
}

function isRefusalWord(word: string): boolean {
  return REFUSAL.test(word) && !ACCOUNT_CODE.test(word);
}

/** A message may quote all of a prompt; what it says stands before that. */
const MESSAGE_CHARS_MAX = 16_000;

/** The part of an error's message in which words are looked for with expressions that may start at many places. */
export function headOfMessage(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX);
}

/** Whether the provider says that the prompt does not fit. */
export function isContextLength(said: FaultText): boolean {
  return said.code === "context_length_exceeded" || CONTEXT_LENGTH.test(headOfMessage(said.message));
}

/**
 * The error of an answer that contains an error object; `otherwise` is its code if the object has no code and no type. An unknown
 * code in a well-formed answer shows that the provider works, so it is not taken for an outage.
 */
export function answerFault(text: FaultText, otherwise: AnswerFaultCode = "provider_unavailable"): AnswerFault {
  const { message, code, type, param, details } = text;
  const words = {
    ...(code === undefined ? {} : { code }),
    ...(param == null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  };
  const isNamed = code !== undefined || type !== undefined;
  return {
    code: codeOfWords(text) ?? (isNamed ? "provider_answer_invalid" : otherwise),
    message,
    ...(Object.keys(words).length === 0 ? {} : { said: words }),
  };
}
