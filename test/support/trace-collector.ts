// A receiver of OpenTelemetry traces on loopback, and a program that sends its traces to it.

/** A span as it is sent, with the members that tests check. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

export interface TraceCollector {
  /** The received requests, as text. */
  readonly bodies: readonly string[];
  spans(): SentSpan[];
  /**
   * Starts a program while the variables that send traces here are set. Programs that are started later do not see
   * them.
   */
  sending<App>(start: () => Promise<App>): Promise<App>;
  stop(): Promise<void>;
}

/** Starts the receiver. */
export function startTraceCollector(): TraceCollector {
  const bodies: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      bodies.push(await request.text());
      return Response.json({});
    },
  });
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  };
  return {
    bodies,
    spans: () =>
      bodies.flatMap((text) =>
        (JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] }).resourceSpans.flatMap(
          ({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    async sending(start) {
      Object.assign(process.env, variables);
      try {
        return await start();
      } finally {
        for (const name of Object.keys(variables)) delete process.env[name];
      }
    },
    stop: () => server.stop(true),
  };
}
