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
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "UpstreamFault";
    this.kind = kind;
    this.status = detail.status ?? 0;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.param = detail.param ?? null;
    this.headers = detail.headers ?? {};
  }
}
