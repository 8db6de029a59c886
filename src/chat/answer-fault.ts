// What can be wrong with an answer that has begun: the closed list of codes that readers and relays report. What each means
// for the client and the provider's breaker is decided in gateway/policy.ts.

import type { ErrorCode } from "../base/errors.ts";

/** Every code that may be reported of an answer. */
export const ANSWER_FAULTS = [
  "invalid_request",
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

/** What a provider said of an error beside its text. */
export interface ErrorWords {
  /** The provider's own code. */
  readonly code?: string;
  /** The request parameter that it blames. */
  readonly param?: string | null;
  readonly details?: unknown;
}

/** A failure of an answer. `message` may be the provider's text and is not yet fit to be shown. */
export interface AnswerFault {
  code: AnswerFaultCode;
  message: string;
  said?: ErrorWords;
  /** What the provider reported, where the client is told only that the answer broke off. */
  reported?: AnswerFaultCode;
}

/** Once content is out nothing can be done about a failure any more, whatever the provider's reason: the answer broke off. */
export function afterContent(fault: AnswerFault, committed: boolean): AnswerFault {
  const { code } = fault;
  if (!committed || code === "tool_arguments_invalid" || code === "provider_stream_interrupted") return fault;
  return { ...fault, code: "provider_stream_interrupted", reported: code };
}

/** Whether a code is one of an answer's. */
export function isAnswerFault(code: string): code is AnswerFaultCode {
  return (ANSWER_FAULTS as readonly string[]).includes(code);
}
