// Types that the request log and its API share, and the few plain values that both need.

/**
 * The outcomes by which requests can be filtered. `failed`: every error, including a stream that broke off after its
 * status was sent.
 */
export const LOG_OUTCOMES = ["ok", "failed", "4xx", "5xx", "stopped"] as const;

/** The spans of the log and of the overview, in hours. */
export const SPAN_HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720, "90d": 2160 } as const;

/** Name of a span. */
export type SpanName = keyof typeof SPAN_HOURS;

/** One attempt of a request: a route that failed, or the one that answered. */
export interface TryView {
  readonly provider: string;
  /** The model's id at the provider. */
  readonly model: string;
  /** `ok` for the attempt that answered, otherwise the reason why it failed. */
  readonly kind: string;
  /** HTTP status of the provider; 0 where there was none. */
  readonly status: number;
  readonly ms: number;
  /** Milliseconds between the arrival of the request and this attempt. */
  readonly at: number;
}

/** One request. Its content is not kept. */
export interface LogRowView {
  readonly id: number;
  readonly request_id: string;
  /** When the request ended. */
  readonly created_at: string;
  /** "" where the request concerns no model, or the model was not found. */
  readonly model: string;
  readonly endpoint: string;
  /** The key's name; "" for a key that has been deleted. */
  readonly key: string;
  readonly key_id: string;
  /** The account that owns the key; "" in the log of a single account. */
  readonly account: string;
  readonly status: number;
  readonly error: string | null;
  /** The client ended the request, which is not an error. */
  readonly stopped: boolean;
  /** The provider that answered, or the last one that failed; "" where none was called. */
  readonly provider: string;
  /** The model's id at the provider. */
  readonly upstream_model: string;
  /** The name that the client asked for, where it could not have such a model; "" otherwise. */
  readonly asked_model: string;
  /** In the order of the attempts. Most requests have one attempt, which answered. */
  readonly tries: readonly TryView[];
  /** The number of requests that share this row: failures beyond 60 a minute and key are grouped. */
  readonly repeats: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Input tokens that were read from a provider's cache. */
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** The provider reported no usage, so the gateway counted the tokens. */
  readonly estimated: boolean;
  /** Null where the model's price is not known. */
  readonly cost_usd: number | null;
  readonly latency_ms: number;
  /** Milliseconds to the first byte; null where nothing was answered. */
  readonly ttft_ms: number | null;
  readonly stream: boolean;
  /** The key was being debugged, so the messages of the request may have been kept. */
  readonly debugged: boolean;
}

/** A message that was kept while its key was being debugged, without its credentials. */
export interface WireMessage {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The body was longer than the part that was kept. */
  readonly cut: boolean;
}

/** The messages of one request. `GET log/ID/wire` answers with a list of them, since a request id may be used twice. */
export interface WireView {
  readonly request: WireMessage & { readonly method: string; readonly url: string };
  readonly response: (WireMessage & { readonly status: number }) | null;
  /** The calls to providers, in their order. */
  readonly upstream: readonly {
    readonly provider: string;
    readonly url: string;
    readonly request: WireMessage;
    readonly response: (WireMessage & { readonly status: number }) | null;
    readonly error: string | null;
  }[];
}

/** Answer of `GET log?key=&model=&status=&error=&request=&span=&before=` and, for all accounts, of `GET admin/log`. */
export interface LogPageView {
  readonly data: readonly LogRowView[];
  /**
   * `before` of the next page; null on the last page. A page may be empty without being the last, since a search stops
   * after a number of rows.
   */
  readonly next: number | null;
  /** The row that was written last, whether or not it matches. The live view continues from there. */
  readonly last: number;
}

/** Answer of `GET log/choices`: the values that the filters offer. */
export interface LogChoices {
  readonly models: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
}
