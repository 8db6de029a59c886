// Traces: off unless the standard OTEL_* variables enable them; otherwise nothing is loaded and nothing is done.

import type { Tracer } from "./span.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Loads the tracer; its libraries are only loaded here. `failed` is called, at most once a minute, if spans cannot be sent. */
export async function loadTracer(settings: TraceSettings, failed: (message: string) => void): Promise<Tracer> {
  const { createTracer } = await import("./trace-otel.ts");
  return createTracer(settings, failed);
}
