// Records a request's usage once, off the request path: what the upstream reported, else what was counted here.

import type { CatalogModel, ModelRoute } from "../catalog/models.ts";
import { costMicros, type Measured } from "../catalog/prices.ts";
import type { Usage } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import type { FailedRoute } from "../telemetry/attempt.ts";
import { countTokens } from "../tokens/count.ts";

/** What is recorded of one upstream call. */
export interface CallUsage {
  model: CatalogModel;
  route: ModelRoute;
  usage: Measured;
  status: number;
  errorCode: string | null;
  ttfbMs: number | null;
  /** The call failed and the request continues. */
  isCall?: true;
}

/** The account and the time. */
export interface UsageOwner {
  requestId: string;
  accountId: string;
  keyId: string;
  endpoint: string;
  stream: boolean;
  startedMs: number;
  nowMs: number;
  failedRoutes?: readonly FailedRoute[];
  /** When the answering route was called. */
  askedMs?: number;
}

const NO_ROUTES: readonly FailedRoute[] = [];

/** The row of one upstream call. */
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

/** Usage counted here: the request's text, and the output text. */
export function estimateUsage(chat: ChatRequest, outputText: string): Usage {
  return { inputTokens: countTokens(promptText(chat)), outputTokens: countTokens(outputText), estimated: true };
}

/** All text of a prompt, for counting. Images and documents are left out. */
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
