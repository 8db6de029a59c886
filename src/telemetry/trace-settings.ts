// Where traces are sent, from the standard OTEL_* variables. Without an endpoint and an explicit exporter there is no
// tracing. Unsupported settings are reported.

export interface TraceSettings {
  /** The full URL to which spans are posted. */
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: { readonly parentBased: boolean; readonly ratio: number };
  readonly batch: { readonly queueMax: number; readonly sizeMax: number; readonly delayMs: number };
}

export interface TraceSettingsResult {
  /** Absent: tracing is off. */
  readonly settings?: TraceSettings;
  readonly warnings: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_ENDPOINT = "http://localhost:4318";

/** Reads the variables; `version` goes into the resource. */
export function tracingFromEnv(env: Env, version: string): TraceSettingsResult {
  const warnings: string[] = [];
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return { warnings };
  const exporter = env["OTEL_TRACES_EXPORTER"]?.trim();
  const endpoint = first(env, ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]);
  if (exporter === "none" || (endpoint === undefined && !exporter)) return { warnings };
  if (exporter && exporter !== "otlp") {
    return { warnings: [`OTEL_TRACES_EXPORTER: only otlp is known, got ${quoted(exporter)}; traces are off`] };
  }
  const protocol = first(env, ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) ?? "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    const known = "http/protobuf and http/json are known";
    return { warnings: [`OTEL_EXPORTER_OTLP_PROTOCOL: ${known}, got ${quoted(protocol)}; traces are off`] };
  }
  const url = urlOf(env);
  if (url === undefined) {
    return { warnings: [`OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL, got ${quoted(endpoint ?? "")}; traces are off`] };
  }
  const number = (name: string, fallback: number): number => {
    const text = env[name]?.trim();
    if (text === undefined || text === "") return fallback;
    if (/^\d+$/.test(text) && Number(text) > 0 && Number(text) < 2 ** 31) return Number(text);
    warnings.push(`${name}: expected a positive number, got ${quoted(text)}; ${fallback} is used`);
    return fallback;
  };
  const queueMax = number("OTEL_BSP_MAX_QUEUE_SIZE", 2048);
  const settings: TraceSettings = {
    url,
    protocol,
    headers: {
      ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]),
      ...pairs(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]),
    },
    timeoutMs: number("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", number("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000)),
    resource: {
      "service.name": "sallyport",
      "service.version": version,
      ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] ? { "service.name": env["OTEL_SERVICE_NAME"] } : {}),
    },
    sampler: samplerOf(env, warnings),
    batch: {
      queueMax,
      sizeMax: Math.min(queueMax, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)),
      delayMs: number("OTEL_BSP_SCHEDULE_DELAY", 5000),
    },
  };
  return { settings, warnings };
}

/** The general endpoint is a base; the one for traces is used unchanged. */
function urlOf(env: Env): string | undefined {
  const exact = first(env, ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]);
  const base = first(env, ["OTEL_EXPORTER_OTLP_ENDPOINT"]) ?? DEFAULT_ENDPOINT;
  const text = exact ?? `${base.replace(/\/+$/, "")}/v1/traces`;
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? text : undefined;
}

function samplerOf(env: Env, warnings: string[]): TraceSettings["sampler"] {
  const name = first(env, ["OTEL_TRACES_SAMPLER"]) ?? "parentbased_always_on";
  const parentBased = name.startsWith("parentbased_");
  switch (name.replace("parentbased_", "")) {
    case "always_on":
      return { parentBased, ratio: 1 };
    case "always_off":
      return { parentBased, ratio: 0 };
    case "traceidratio": {
      const text = first(env, ["OTEL_TRACES_SAMPLER_ARG"]) ?? "1";
      const ratio = Number(text);
      if (ratio >= 0 && ratio <= 1) return { parentBased, ratio };
      warnings.push(`OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got ${quoted(text)}; 1 is used`);
      return { parentBased, ratio: 1 };
    }
    default:
      warnings.push(`OTEL_TRACES_SAMPLER: ${quoted(name)} is not known; parentbased_always_on is used`);
      return { parentBased: true, ratio: 1 };
  }
}

/** `a=b,c=d` with percent-encoded values, the standard's format for headers and attributes; anything else is left out. */
function pairs(text: string | undefined): Record<string, string> {
  const out: Record<string, string> = {};
  for (const pair of text?.split(",") ?? []) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(0, at)).trim();
    if (key === "") continue;
    const value = pair.slice(at + 1).trim();
    try {
      out[key] = decodeURIComponent(value);
    } catch {
      // The value is not percent-encoded, which is common.
      out[key] = value;
    }
  }
  return out;
}

function first(env: Env, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = env[name]?.trim();
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
