// What the request log and its API say to each other. Types, and the few plain values both must agree on.

/** How requests can be chosen by their end. `failed`: every error, also of a stream that broke off after its status. */
export const LOG_OUTCOMES = ["ok", "failed", "4xx", "5xx", "stopped"] as const;

/** The spans of the log and of the overview, in hours. */
export const SPAN_HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720, "90d": 2160 } as const;

/** Name of a span. */
export type SpanName = keyof typeof SPAN_HOURS;

/** One try of a request: of a route that failed, or of the one that answered. */
export interface TryView {
  readonly provider: string;
  /** The model's id there. */
  readonly model: string;
  /** `ok` for the one that answered, else why it failed. */
  readonly kind: string;
  /** HTTP status of the provider; 0 where there was none. */
  readonly status: number;
  readonly ms: number;
  /** Milliseconds after the request came. */
  readonly at: number;
}

/** One request. What it said is not kept. */
export interface LogRowView {
  readonly id: number;
  readonly request_id: string;
  /** When it ended. */
  readonly created_at: string;
  /** "" where no model is involved or none was found. */
  readonly model: string;
  readonly endpoint: string;
  /** The key's name; "" for a key that is gone. */
  readonly key: string;
  readonly key_id: string;
  /** Whose key it is; "" where the log is one account's own. */
  readonly account: string;
  readonly status: number;
  readonly error: string | null;
  /** The client ended it, which is no error. */
  readonly stopped: boolean;
  /** The provider that answered, or failed last; "" where none was asked. */
  readonly provider: string;
  /** The model's id there. */
  readonly upstream_model: string;
  /** In order; of most requests there is one, the one that answered. */
  readonly tries: readonly TryView[];
  /** How many requests share this row: failures beyond 60 a minute and key. */
  readonly repeats: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Of the input, read from a provider's cache. */
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** The provider reported no usage; the tokens were counted here. */
  readonly estimated: boolean;
  /** Null where no price of the model is known. */
  readonly cost_usd: number | null;
  readonly latency_ms: number;
  /** To the first byte; null where nothing was answered. */
  readonly ttft_ms: number | null;
  readonly stream: boolean;
  /** The key is being debugged: what passed may have been kept. */
  readonly debugged: boolean;
}

/** A message that was kept while its key was being debugged; without credentials. */
export interface WireMessage {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The body went on. */
  readonly cut: boolean;
}

/** What passed for one request: `GET log/ID/wire` answers with a list of them, as an id may be used twice. */
export interface WireView {
  readonly request: WireMessage & { readonly method: string; readonly url: string };
  readonly response: (WireMessage & { readonly status: number }) | null;
  /** The calls to providers, in order. */
  readonly upstream: readonly {
    readonly provider: string;
    readonly url: string;
    readonly request: WireMessage;
    readonly response: (WireMessage & { readonly status: number }) | null;
    readonly error: string | null;
  }[];
}

/** Answer of `GET log?key=&model=&status=&error=&request=&span=&before=` and, of everybody, of `GET admin/log`. */
export interface LogPageView {
  readonly data: readonly LogRowView[];
  /** `before` of the next page; null: there is none. A page may be empty and not the last: so far was looked. */
  readonly next: number | null;
  /** The row that was written last, matching or not: from there on the live view goes on. */
  readonly last: number;
}

/** Answer of `GET log/choices`: what the filters offer. */
export interface LogChoices {
  readonly models: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
}
