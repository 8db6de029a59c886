// The interface of tracing, and the trace context of a request. Spans contain no prompt or answer text.

/** A span's attributes. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A piece of work in progress. After `end` nothing has an effect. */
export interface TraceSpan {
  /** `traceparent` and `tracestate` that make the callee's spans children of this one. */
  readonly headers: Readonly<Record<string, string>>;
  /** A call to another service, within this span. */
  child(name: string, attributes: SpanAttributes): TraceSpan;
  set(attributes: SpanAttributes): void;
  /** It failed; `errorType` is an error code or a fault's kind. */
  fail(errorType: string): void;
  end(): void;
}

export interface Tracer {
  /** The span of a request that came in; a child of the client's own span where the headers name one. */
  request(name: string, headers: Headers, attributes: SpanAttributes): TraceSpan;
  /** Sends the rest and ends; never throws, takes at most some seconds. */
  stop(): Promise<void>;
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
/** W3C Trace Context requires at least this much to be propagated; more is not worth its bytes. */
const TRACESTATE_CHARS_MAX = 512;

/** The trace context of a request that is forwarded unchanged while tracing is off; {} if there is no valid one. */
export function traceHeaders(headers: Headers): Readonly<Record<string, string>> {
  const traceparent = headers.get("traceparent");
  if (traceparent === null || !TRACEPARENT.test(traceparent) || traceparent.startsWith("ff")) return {};
  const tracestate = headers.get("tracestate");
  return tracestate === null || tracestate === "" || tracestate.length > TRACESTATE_CHARS_MAX
    ? { traceparent }
    : { traceparent, tracestate };
}
