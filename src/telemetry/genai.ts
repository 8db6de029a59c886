// The OpenTelemetry semantic conventions for generative AI, as attributes of spans. Ids, counts and parameters only.

import type { SpanAttributes } from "./span.ts";

/** A call to a model, before it is made. */
export interface GenAiCall {
  /** What is asked of it; absent: a chat. */
  readonly operation?: string | undefined;
  /** The dialect or kind of the provider, as `anthropic-messages`. */
  readonly dialect: string;
  /** The id the upstream knows. */
  readonly model: string;
  readonly baseUrl: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stream: boolean;
}

/** What came of it. */
export interface GenAiAnswer {
  readonly model?: string | undefined;
  readonly id?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

/** The well-known names of vendors, by the host of their API; other servers are named for the protocol they speak. */
const PROVIDERS: readonly (readonly [host: RegExp, name: string])[] = [
  [/(^|\.)openai\.com$/, "openai"],
  [/(^|\.)anthropic\.com$/, "anthropic"],
  [/(^|\.)googleapis\.com$/, "gcp.gemini"],
  [/(^|\.)mistral\.ai$/, "mistral_ai"],
  [/(^|\.)groq\.com$/, "groq"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)x\.ai$/, "x_ai"],
];

/** The name of the span of a call to a model. */
export function genAiSpanName(model: string, operation = "chat"): string {
  return `${operation} ${model}`;
}

/** The attributes that are known before the call. */
export function genAiCallAttributes(call: GenAiCall): SpanAttributes {
  const url = URL.parse(call.baseUrl);
  const host = url?.hostname ?? "";
  return {
    "gen_ai.operation.name": call.operation ?? "chat",
    "gen_ai.provider.name": PROVIDERS.find(([pattern]) => pattern.test(host))?.[1] ?? protocolName(call.dialect),
    "gen_ai.request.model": call.model,
    "gen_ai.request.max_tokens": call.maxTokens,
    "gen_ai.request.temperature": call.temperature,
    "gen_ai.request.top_p": call.topP,
    "gen_ai.request.stream": call.stream,
    "server.address": host === "" ? undefined : host,
    "server.port": url === null ? undefined : portOf(url),
  };
}

/** The attributes that are known after it. */
export function genAiAnswerAttributes(answer: GenAiAnswer): SpanAttributes {
  return {
    "gen_ai.response.model": answer.model,
    "gen_ai.response.id": answer.id,
    "gen_ai.response.finish_reasons": answer.finishReasons,
    "gen_ai.usage.input_tokens": answer.inputTokens,
    "gen_ai.usage.output_tokens": answer.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": answer.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": answer.cacheWriteTokens,
  };
}

function protocolName(dialect: string): string {
  if (dialect.startsWith("openai")) return "openai";
  if (dialect.startsWith("anthropic")) return "anthropic";
  return dialect === "gemini" ? "gcp.gemini" : dialect;
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "http:" ? 80 : 443;
}
