// The failures of an answer that has started: the closed list of codes that readers and relays report. gateway/rules/policy.ts
// decides what each means for the client and the provider's breaker.

import type { ErrorCode } from "../base/errors.ts";

/** Every code of such a failure. */
export const ANSWER_FAULTS = [
  "invalid_request",
  "content_policy_violation",
  "context_length_exceeded",
  "provider_auth_failed",
  "provider_model_missing",
  "provider_rate_limited",
  "provider_unavailable",
  "provider_timeout",
  "provider_stream_interrupted",
  "provider_answer_invalid",
  "tool_arguments_invalid",
] as const satisfies readonly ErrorCode[];

export type AnswerFaultCode = (typeof ANSWER_FAULTS)[number];

/** A provider's error besides its text. */
export interface ErrorWords {
  /** The provider's own code. */
  readonly code?: string;
  /** The request parameter that caused the error, if the provider names one. */
  readonly param?: string | null;
  readonly details?: unknown;
  /** The sizes of a prompt that does not fit, if the provider states them beside its text. */
  readonly sizes?: { readonly requested?: number; readonly limit?: number };
}

/** A failure of an answer. `message` may be the provider's text and must be scrubbed before it is shown. */
export interface AnswerFault {
  code: AnswerFaultCode;
  message: string;
  said?: ErrorWords;
  /** The provider's error, if the client is only told that the answer broke off. */
  reported?: AnswerFaultCode;
}

/** Failures that the request itself causes. The client must know them in order to stop, also after content was sent. */
const OF_REQUEST: ReadonlySet<AnswerFaultCode> = new Set([
  "invalid_request",
  "content_policy_violation",
  "context_length_exceeded",
  "tool_arguments_invalid",
]);

/**
 * After content was sent, the gateway can do nothing about a failure, so every failure that the request does not cause is reported
 * as a broken-off answer.
 */
export function afterContent(fault: AnswerFault, committed: boolean): AnswerFault {
  const { code } = fault;
  if (!committed || OF_REQUEST.has(code) || code === "provider_stream_interrupted") return fault;
  return { ...fault, code: "provider_stream_interrupted", reported: code };
}

/** Whether a code is one of these. */
export function isAnswerFault(code: string): code is AnswerFaultCode {
  return (ANSWER_FAULTS as readonly string[]).includes(code);
}
