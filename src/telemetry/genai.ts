// The OpenTelemetry semantic conventions for generative AI, as span attributes. Ids, counts and parameters only.

import { traceNameOf } from "../vendors/look-up.ts";
import type { SpanAttributes } from "./span.ts";

/** A call to a model, before it is made. */
export interface GenAiCall {
  /** The operation; absent: a chat. */
  readonly operation?: string | undefined;
  /** The dialect or kind of the provider, such as `anthropic-messages`. */
  readonly dialect: string;
  /** The id the upstream knows. */
  readonly model: string;
  readonly baseUrl: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stream: boolean;
}

/** The result of a call to a model. */
export interface GenAiAnswer {
  readonly model?: string | undefined;
  readonly id?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

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
    "gen_ai.provider.name": traceNameOf(host, call.dialect),
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

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "http:" ? 80 : 443;
}
