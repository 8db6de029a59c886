// Sends finished spans to an OTLP collector over HTTP. Only the SDK's encoders are used, since its own senders load
// node:http at the start: 13 MB, also in a program without tracing.

import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { pause } from "../base/retry.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** The protocol's retryable statuses; every other failure drops the batch. */
const RETRYABLE = new Set([429, 502, 503, 504]);
const TRIES = 3;
const RETRY_MS = 1000;

/** Creates the exporter. A batch that cannot be sent is dropped and reported; nothing accumulates. */
export function otlpExporter(settings: TraceSettings, complain: (message: string) => void): SpanExporter {
  const json = settings.protocol === "http/json";
  const serializer = json ? JsonTraceSerializer : ProtobufTraceSerializer;
  const headers = { "content-type": json ? "application/json" : "application/x-protobuf", ...settings.headers };
  const sending = new Set<Promise<void>>();

  async function send(spans: ReadableSpan[]): Promise<void> {
    const body = serializer.serializeRequest(spans) as Uint8Array<ArrayBuffer> | undefined;
    if (body === undefined) throw new Error("the spans could not be encoded");
    const signal = AbortSignal.timeout(settings.timeoutMs);
    for (let tried = 1; ; tried++) {
      const response = await fetch(settings.url, { method: "POST", headers, body, signal, redirect: "error" });
      await response.body?.cancel();
      if (response.ok) return;
      if (tried === TRIES || !RETRYABLE.has(response.status))
        throw new Error(`the collector answered ${response.status}`);
      await pause(RETRY_MS * tried, signal);
    }
  }

  return {
    export(spans, done) {
      const sent = send(spans)
        .then(
          () => done({ code: 0 }),
          (error: unknown) => {
            const cause = error instanceof Error ? error : new Error(String(error));
            complain(cause.message);
            done({ code: 1, error: cause });
          },
        )
        .finally(() => sending.delete(sent));
      sending.add(sent);
    },
    async forceFlush() {
      await Promise.all(sending);
    },
    async shutdown() {
      await Promise.all(sending);
    },
  };
}
