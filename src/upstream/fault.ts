// A failed call to a provider, in the provider's terms; the gateway decides what the client is told (contract §3
// "upstream failures") and whether another route is tried.

export type FaultKind =
  /** 401, 402, 403: our credentials. */
  | "auth"
  /** 400, 422 and the like: the request; never retried. */
  | "bad_request"
  /** The history does not fit the model's window. */
  | "context_length"
  /** 404: the provider does not have the model. */
  | "model_missing"
  | "rate_limited"
  /** 5xx, connection refused or reset, a reply that is not of the protocol. */
  | "unavailable"
  | "timeout";

/** Thrown by upstream/; `message` may hold upstream text and is scrubbed before it is shown. */
export class UpstreamFault extends Error {
  readonly kind: FaultKind;
  /** HTTP status of the upstream, 0 when there was none. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  /** The request parameter the upstream blamed. */
  readonly param: string | null;
  /** True when no connection was had: the provider has seen nothing of the request. */
  readonly connecting: boolean;
  /** Headers worth handing on (`retry-after`, `anthropic-ratelimit-*`). */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: FaultKind,
    message: string,
    detail: {
      status?: number;
      retryAfterSeconds?: number | undefined;
      param?: string | null;
      headers?: Readonly<Record<string, string>>;
      connecting?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "UpstreamFault";
    this.kind = kind;
    this.status = detail.status ?? 0;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.param = detail.param ?? null;
    this.connecting = detail.connecting === true;
    this.headers = detail.headers ?? {};
  }
}

/** Headers of a failed answer that clients act on (Claude Code retries by them). */
const FORWARDED = /^(?:retry-after(?:-ms)?|anthropic-ratelimit-.+|x-ratelimit-.+|x-should-retry)$/;

/** Phrases by which providers say that the prompt does not fit (their documented errors and SDKs' tests). */
const CONTEXT_LENGTH =
  /context[_ ]length|maximum context|context window|(?:context|prompt) (?:size|limit|length) is|exceeds? (?:the )?(?:available )?context|maximum prompt length|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:maximum|max) (?:number of )?(?:input )?tokens|input token count.*exceeds|reduce the length of/i;

/** What a provider's error body says. */
export interface FaultText {
  message: string;
  code?: string;
  param?: string | null;
}

/** Sorts an HTTP error answer into its kind (contract §3 "upstream failures"). */
export function faultFromHttp(status: number, said: FaultText, headers: Headers): UpstreamFault {
  const forwarded: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (FORWARDED.test(name) && (name !== "retry-after" || isRetryAfter(value))) forwarded[name] = value;
  });
  return new UpstreamFault(kindOf(status, said), said.message, {
    status,
    param: said.param ?? null,
    retryAfterSeconds: retryAfterSeconds(headers),
    headers: forwarded,
  });
}

function isRetryAfter(value: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(value) || Number.isFinite(Date.parse(value));
}

function kindOf(status: number, said: FaultText): FaultKind {
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 404) return "model_missing";
  if (status === 408) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "unavailable";
  if (said.code === "context_length_exceeded" || CONTEXT_LENGTH.test(said.message)) return "context_length";
  return "bad_request";
}

/** Seconds of a `Retry-After` header (or `retry-after-ms`); a date is read against the answer's own `Date`. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms / 1000;
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text.trim())) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(headers.get("date") ?? "")) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
