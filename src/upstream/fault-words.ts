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
  ...sayings("provider_model_missing", "404 not_found_error model_not_found NOT_FOUND"),
  ...sayings("provider_timeout", "408 504 timeout_error DEADLINE_EXCEEDED"),
  ...sayings("provider_rate_limited", "429 rate_limit_exceeded rate_limit_error insufficient_quota RESOURCE_EXHAUSTED"),
  ...sayings("provider_unavailable", "500 502 503 529 api_error server_error overloaded_error INTERNAL UNAVAILABLE"),
]);

/**
 * Codes of this form mean that the request is invalid: `invalid_image_url`, `unsupported_parameter`, `content_policy_violation`.
 */
const REQUEST_CODE =
  /^(?:invalid_|unsupported_|unknown_parameter|missing_required|empty_image|image_|failed_to_download_image|string_above_|string_below_|array_above_|integer_above_|integer_below_|decimal_above_|content_policy|\w+_policy_violation)/;

/**
 * Messages about the operator's account that some vendors send with a 400, as if the request were invalid. Only the beginning of
 * a message is matched, since the rest may quote the client.
 */
const ACCOUNT =
  /^(?:your credit balance is too low|your organization must be verified|billing hard limit|user location is not supported)/i;

/** The gateway's code for an error's text; undefined if the text is unknown. */
export function codeOfWords(said: FaultText): AnswerFaultCode | undefined {
  const known = codeOfWord(said.code) ?? codeOfWord(said.type) ?? codeOfWord(said.status?.toString());
  if ((known === undefined || known === "invalid_request") && ACCOUNT.test(said.message)) return "provider_auth_failed";
  return known === "invalid_request" && isContextLength(said) ? "context_length_exceeded" : known;
}

function codeOfWord(word: string | undefined): AnswerFaultCode | undefined {
  if (word === undefined) return undefined;
  return lookUp(WORDS, word) ?? (REQUEST_CODE.test(word) ? "invalid_request" : undefined);
}

/** Whether the provider says that the prompt does not fit. */
export function isContextLength(said: FaultText): boolean {
  return said.code === "context_length_exceeded" || CONTEXT_LENGTH.test(said.message);
}

/** The error of an answer that contains an error object; `otherwise` is its code if the text is unknown. */
export function answerFault(said: FaultText, otherwise: AnswerFaultCode = "provider_unavailable"): AnswerFault {
  const { message, code, param, details } = said;
  const words = {
    ...(code === undefined ? {} : { code }),
    ...(param == null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  };
  return {
    code: codeOfWords(said) ?? otherwise,
    message,
    ...(Object.keys(words).length === 0 ? {} : { said: words }),
  };
}
