// Records the usage of a request once, after the answer: what the upstream reported, or otherwise what the gateway counted.

import type { CatalogModel, ModelRoute } from "../catalog/models.ts";
import { costMicros, type Measured } from "../catalog/prices.ts";
import type { Usage } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import type { FailedRoute } from "../telemetry/attempt.ts";
import { countTokens } from "../tokens/count.ts";

/** The recorded facts about one upstream call. */
export interface CallUsage {
  model: CatalogModel;
  route: ModelRoute;
  usage: Measured;
  status: number;
  errorCode: string | null;
  ttfbMs: number | null;
  /** Present if the call failed and the request continues. */
  isCall?: true;
}

/** The caller to whom the usage belongs, and the time. */
export interface UsageOwner {
  requestId: string;
  accountId: string;
  keyId: string;
  endpoint: string;
  stream: boolean;
  startedMs: number;
  nowMs: number;
  failedRoutes?: readonly FailedRoute[];
  /** When the route that answered was called. */
  askedMs?: number;
}

const NO_ROUTES: readonly FailedRoute[] = [];

/** The usage row of one upstream call. */
export function usageRecord(spent: CallUsage, account: UsageOwner): UsageRecord {
  const { usage, model, route } = spent;
  return {
    requestId: account.requestId,
    accountId: account.accountId,
    keyId: account.keyId,
    model: model.id,
    provider: route.provider,
    upstreamModel: route.model,
    endpoint: account.endpoint,
    status: spent.status,
    errorCode: spent.errorCode,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedTokens: usage.cachedTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    reasoningTokens: usage.reasoningTokens ?? 0,
    estimated: usage.estimated === true,
    costMicros: costMicros(model.prices, usage),
    latencyMs: Math.round(performance.now() - account.startedMs),
    ttfbMs: spent.ttfbMs === null ? null : Math.round(spent.ttfbMs),
    stream: account.stream,
    createdAtMs: account.nowMs,
    attempts: account.failedRoutes ?? NO_ROUTES,
    arrivedMs: account.startedMs,
    ...(account.askedMs === undefined ? {} : { askedMs: account.askedMs }),
    ...(spent.isCall === true ? { isCall: true } : {}),
  };
}

/** The usage as counted by the gateway, from the texts of the request and of the answer. */
export function estimateUsage(chat: ChatRequest, outputText: string): Usage {
  return { inputTokens: countTokens(promptText(chat)), outputTokens: countTokens(outputText), estimated: true };
}

/** All text of a prompt, to be counted. Images and documents are left out. */
export function promptText(chat: ChatRequest): string {
  const texts: string[] = [];
  for (const message of chat.messages) {
    for (const part of message.content) {
      if (part.type === "text" || part.type === "reasoning" || part.type === "refusal") texts.push(part.text);
      else if (part.type === "tool-call") texts.push(part.name, part.arguments);
      else if (part.type === "tool-result") {
        for (const inner of part.content) if (inner.type === "text") texts.push(inner.text);
      }
    }
  }
  for (const tool of chat.tools) {
    if (tool.type === "server") continue;
    texts.push(
      tool.name,
      tool.description ?? "",
      tool.type === "function" ? JSON.stringify(tool.parameters ?? {}) : "",
    );
  }
  return texts.join("\n");
}
