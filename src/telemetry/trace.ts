// Traces: off unless the standard OTEL_* variables ask for them, and then nothing is loaded and nothing is done.

import type { Tracer } from "./span.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Loads the tracer; its libraries are read only here. `failed` is told, at most once a minute, when spans cannot be sent. */
export async function loadTracer(settings: TraceSettings, failed: (message: string) => void): Promise<Tracer> {
  const { createTracer } = await import("./trace-otel.ts");
  return createTracer(settings, failed);
}
