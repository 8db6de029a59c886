// A failed call to a provider, in the provider's terms. The gateway decides what the client is told (docs/reference/errors.md)
// and whether another route is tried.

import type { ErrorWords } from "../chat/answer-fault.ts";
import { codeOfWords, type FaultText, isContextLength, isRefusal } from "./fault-words.ts";

export type { FaultText } from "./fault-words.ts";

export type FaultKind =
  /** 401, 402 or 403: the operator's credentials were refused. */
  | "auth"
  /** 400, 422 and similar: the request is invalid, so it is not tried again. */
  | "bad_request"
  /** The provider refuses the content of the request by its policy, so that it is sent to nobody else. */
  | "refused"
  /** The history does not fit into the model's window. */
  | "context_length"
  /** 404: the provider does not have the model. */
  | "model_missing"
  | "rate_limited"
  /** 5xx, a refused or reset connection, or an answer that is not of the protocol. */
  | "unavailable"
  | "timeout"
  /** The provider works, but its model made a tool call that cannot be used. */
  | "call_invalid"
  /** The provider works, but the output of its model is not an answer. */
  | "answer_invalid";

/** The error of a failed call. Its message may contain upstream text, from which secrets are removed before it is shown. */
export class UpstreamFault extends Error {
  readonly kind: FaultKind;
  /** The HTTP status of the upstream; 0 if there was none. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  /** The code and the parameter that the upstream stated beside its text. */
  readonly said: ErrorWords;
  /** Whether there was no connection, so that the provider got nothing of the request. */
  readonly connecting: boolean;
  /** Headers to forward, whose values contain only numbers and words. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that only clients of the provider's own protocol understand, and the name of that protocol. */
  readonly familyHeaders: Readonly<Record<string, string>>;
  readonly family: string | undefined;

  constructor(
    kind: FaultKind,
    message: string,
    detail: {
      status?: number;
      retryAfterSeconds?: number | undefined;
      said?: ErrorWords | undefined;
      headers?: Readonly<Record<string, string>>;
      familyHeaders?: Readonly<Record<string, string>>;
      family?: string | undefined;
      connecting?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "UpstreamFault";
    this.kind = kind;
    this.status = detail.status ?? 0;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.said = detail.said ?? {};
    this.connecting = detail.connecting === true;
    this.headers = detail.headers ?? {};
    this.familyHeaders = detail.familyHeaders ?? {};
    this.family = detail.family;
  }
}

/**
 * The headers of a failed answer that clients use, with the allowed form of their values. (Claude Code decides by them when to
 * retry.)
 */
const FORWARDED: Readonly<Record<string, RegExp>> = {
  "retry-after": /^(?:\d+(?:\.\d+)?|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/,
  "retry-after-ms": /^\d+(?:\.\d+)?$/,
  "x-should-retry": /^(?:true|false)$/,
};

/** Classifies an HTTP error (docs/reference/errors.md). */
export function faultFromHttp(
  status: number,
  text: FaultText,
  headers: Headers,
  own: { readonly family?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): UpstreamFault {
  const forwarded: Record<string, string> = {};
  for (const [name, form] of Object.entries(FORWARDED)) {
    const value = headers.get(name);
    if (value !== null && form.test(value)) forwarded[name] = value;
  }
  return new UpstreamFault(kindOf(status, text), text.message, {
    status,
    said: text,
    retryAfterSeconds: retryAfterSeconds(headers),
    headers: forwarded,
    familyHeaders: own.headers ?? {},
    family: own.family,
  });
}

function kindOf(status: number, text: FaultText): FaultKind {
  if (isRefusal(text)) return "refused";
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 404) return namesAnotherThing(text) ? "bad_request" : "model_missing";
  // The address does not exist for this method, or no longer.
  if (status === 405 || status === 410) return "model_missing";
  if (status === 408) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "unavailable";
  switch (codeOfWords({ message: text.message, ...(text.code === undefined ? {} : { code: text.code }) })) {
    // Some vendors report problems of the operator's account with a 400 or 413 (xAI's invalid keys, Groq's tokens per minute).
    case "provider_auth_failed":
      return "auth";
    case "provider_rate_limited":
      return "rate_limited";
    case "provider_model_missing":
      return "model_missing";
    default:
      return isContextLength(text) ? "context_length" : "bad_request";
  }
}

/** Things other than models that a request may name: files, earlier answers, threads, containers. */
const THING =
  "(?:file|thread|container|skill|response|message|item|conversation|vector[ _]store|cached[ _]?content|interaction)s?";
const THING_CODE = new RegExp(`(?:^|_)${THING}_|^${THING}(?:not|expired)`, "i");
const NAMED_THING = new RegExp(`\\b${THING}\\b`, "i");

/**
 * Whether a 404 is about something that the client named. Every other 404 is the operator's matter, since the address and the
 * model are.
 */
function namesAnotherThing({ code, message }: FaultText): boolean {
  if (code !== undefined && THING_CODE.test(code)) return true;
  if (/model|deployment/i.test(code ?? "") || /\bmodels?\b|deployment/i.test(message)) return false;
  // In a path, the names of things are parts of an address. Some names have two words.
  return NAMED_THING.test(message.replace(/\S+/g, (word) => (word.includes("/") ? " " : word)));
}

/** The seconds of a `Retry-After` header (or `retry-after-ms`). A date is relative to the answer's own `Date`. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms / 1000;
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text.trim())) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(headers.get("date") ?? "")) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
