// The usage row of a request without an answer of an upstream.

import type { Exchange } from "../../http/exchange.ts";
import { STOPPED, type UsageRecord } from "../../store/usage/record.ts";
import { usageLabelsOf } from "./labels.ts";

/** What a search within a chat is billed as; the chat has rows of its own. */
const CHAT_SEARCH: Pick<UsageRecord, "classes"> = { classes: [{ name: "web_searches", amount: 1, costMicros: 0 }] };

/** The usage row of a request that no upstream answered, or of a web tool. */
export function unansweredRow(exchange: Exchange, end: { status: number; tookMs: number; nowMs: number }): UsageRecord {
  const { log, failedRoutes, caller } = exchange;
  const { error, model, asked_model: asked, client_gone: gone } = log;
  const last = failedRoutes.at(-1);
  const code = typeof error === "string" ? error : null;
  return {
    requestId: exchange.requestId,
    accountId: caller?.accountId ?? "",
    keyId: caller?.keyId ?? "",
    model: typeof model === "string" ? model : "",
    provider: last?.provider ?? "",
    upstreamModel: last?.model ?? (typeof asked === "string" ? asked : ""),
    endpoint: exchange.route,
    status: end.status,
    errorCode: gone === true ? STOPPED : code,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimated: false,
    costMicros: 0,
    latencyMs: Math.round(end.tookMs),
    ttfbMs: null,
    stream: exchange.streaming,
    createdAtMs: end.nowMs,
    attempts: failedRoutes,
    arrivedMs: exchange.startedMs,
    ...usageLabelsOf(exchange),
    ...(log["via"] === "chat" && exchange.route === "/v1/search" && end.status === 200 ? CHAT_SEARCH : undefined),
  };
}
