// The tracer itself, based on the OpenTelemetry SDK. Loaded only if tracing is on. Nothing global is set: spans are passed
// explicitly, so that the program behaves the same with and without it.

import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { otlpExporter } from "./otlp-exporter.ts";
import { type SpanAttributes, type Tracer, type TraceSpan, traceHeaders } from "./span.ts";
import type { TraceSettings } from "./trace-settings.ts";

type OtelTracer = ReturnType<TracerProvider["getTracer"]>;

/** The limit of waiting for a collector at shutdown. */
const STOP_MS = 3000;
const COMPLAIN_EVERY_MS = 60_000;
/** The limit of an attribute's length; attributes are names and ids. */
const ATTRIBUTE_CHARS_MAX = 1024;

/** Creates the tracer. */
export function createTracer(settings: TraceSettings, failed: (message: string) => void): Tracer {
  const complain = atMostOnceAMinute(failed);
  const { timeoutMs, batch } = settings;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...settings.resource }),
    sampler: samplerOf(settings.sampler),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_CHARS_MAX },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: otlpExporter(settings, complain),
        maxQueueSize: batch.queueMax,
        maxExportBatchSize: batch.sizeMax,
        scheduledDelayMillis: batch.delayMs,
        exportTimeoutMillis: timeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer("sallyport");
  return {
    request(name, requestHeaders, attributes) {
      const parent = remoteContext(requestHeaders);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: plain(attributes) }, parent);
      return wrap(tracer, span, trace.setSpan(parent, span));
    },
    async stop() {
      let timer: Timer | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_MS);
      });
      await Promise.race([provider.shutdown().catch((error) => complain(String(error))), late]);
      clearTimeout(timer);
    },
  };
}

function wrap(tracer: OtelTracer, span: Span, context: Context): TraceSpan {
  return {
    headers: headersOf(span),
    child(name, attributes) {
      const child = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: plain(attributes) }, context);
      return wrap(tracer, child, trace.setSpan(context, child));
    },
    set: (attributes) => void span.setAttributes(plain(attributes)),
    fail(errorType) {
      span.setAttribute("error.type", errorType);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => span.end(),
  };
}

/** The client's span, when its headers name one. */
function remoteContext(headers: Headers): Context {
  const { traceparent, tracestate } = traceHeaders(headers);
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  });
}

function headersOf(span: Span): Record<string, string> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

function samplerOf({ parentBased, ratio }: TraceSettings["sampler"]): Sampler {
  const root =
    ratio >= 1 ? new AlwaysOnSampler() : ratio <= 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function atMostOnceAMinute(failed: (message: string) => void): (message: string) => void {
  let quietUntilMs = 0;
  return (message) => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + COMPLAIN_EVERY_MS;
    failed(message);
  };
}

function plain(attributes: SpanAttributes): Record<string, string | number | boolean | string[]> {
  const out: Record<string, string | number | boolean | string[]> = {};
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) out[key] = typeof value === "object" ? [...value] : value;
  }
  return out;
}
