// Records the usage of a request once, after the answer: what the upstream reported, or otherwise what the gateway counted.

import type { FailedRoute } from "../../base/attempt.ts";
import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import { knownCostMicros, type Measured, type Prices } from "../../catalog/prices.ts";
import { type ChatEvent, lastFinish, type Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { isComplete, settledUsage } from "../../chat/usage.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import { countLineTokens, countTokens } from "../../tokens/count.ts";
import { type OutputText, writtenOutput } from "../../upstream/output-text.ts";
import { writeBilledCost } from "./billed-cost.ts";
import { type LabelHolder, usageLabelsOf } from "./labels.ts";
import { mediaTokens } from "./media-tokens.ts";

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
  /** The id of the answer as the client knows it, or its prefix alone if the digits of the request's id follow. */
  answerId?: string;
  /** Holds what the request is grouped by in reports. */
  labels: LabelHolder;
}

const NO_ROUTES: readonly FailedRoute[] = [];

/** The usage row of one upstream call. */
export function usageRecord(spent: CallUsage, account: UsageOwner): UsageRecord {
  const { usage, model, route } = spent;
  const record: { -readonly [Name in keyof UsageRecord]: UsageRecord[Name] } = {
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
    costMicros: 0,
    latencyMs: Math.round(performance.now() - account.startedMs),
    ttfbMs: spent.ttfbMs === null ? null : Math.round(spent.ttfbMs),
    stream: account.stream,
    createdAtMs: account.nowMs,
    attempts: account.failedRoutes ?? NO_ROUTES,
    arrivedMs: account.startedMs,
    ...usageLabelsOf(account.labels),
  };
  writeBilledCost(record, model.prices, usage);
  if (account.askedMs !== undefined) record.askedMs = account.askedMs;
  if (spent.isCall === true) record.isCall = true;
  else if (account.answerId !== undefined) record.answerId = account.answerId;
  return record;
}

/** Settles the usage of one request, of which the prompt is counted at most once. */
export type SettleUsage = (told: Usage | undefined, output: OutputText) => Usage;

/** Creates the function that settles the usage of a request (`settledUsage`), with its cost if the client asked for it. */
export function usageSettler(chat: ChatRequest, prices: Prices | undefined): SettleUsage {
  let counted: number | undefined;
  const input = () => {
    counted ??= countLineTokens(promptTexts(chat)) + mediaTokens(chat);
    return counted;
  };
  const settle: SettleUsage = (told, output) =>
    told !== undefined && isComplete(told) ? told : settledUsage(told, { input, output: () => outputTokens(output) });
  return chat.includeCost === true ? (told, output) => withCost(settle(told, output), prices) : settle;
}

/** Whether what the upstream told is all that there is to say of the usage. */
export function isSettled({ includeCost }: Pick<ChatRequest, "includeCost">, told: Usage | undefined): told is Usage {
  return told !== undefined && includeCost !== true && isComplete(told);
}

function withCost(usage: Usage, prices: Prices | undefined): Usage {
  const costUsd = costInUsd(prices, usage);
  return costUsd === undefined ? usage : { ...usage, costUsd };
}

const MICROS_PER_USD = 1_000_000;

/** The cost of an answer in US dollars, as in its usage record; undefined if it is unknown. */
export function costInUsd(prices: Prices | undefined, usage: Measured): number | undefined {
  const micros = knownCostMicros(prices, usage);
  return micros === undefined ? undefined : micros / MICROS_PER_USD;
}

/** States the cost of a whole answer in its header. The answers of one request add up; where one is unknown, there is no header. */
export function noteCost(headers: Record<string, string>, prices: Prices | undefined, usage: Measured): void {
  const micros = knownCostMicros(prices, usage);
  if (micros === undefined) return;
  const before = Math.round(Number(headers[COST_HEADER] ?? 0) * MICROS_PER_USD);
  headers[COST_HEADER] = String((before + micros) / MICROS_PER_USD);
}

const COST_HEADER = "x-sallyport-cost";

/** The settled usage of a whole answer. */
export function usageOfAnswer(chat: ChatRequest, events: readonly ChatEvent[], prices: Prices | undefined): Usage {
  const told = lastFinish(events)?.usage;
  return usageSettler(chat, prices)(told, writtenOutput(events));
}

/** The tokens of an answer. Text that was not kept is extrapolated. */
function outputTokens(output: OutputText): number {
  const kept = output.toString();
  const text = kept === "" ? 0 : Math.ceil((countTokens(kept) * output.chars) / kept.length);
  return text + output.pictures * PICTURE_TOKENS;
}

/** The tokens of a generated picture of medium quality and 1024 by 1024 pixels (platform.openai.com/docs/guides/image-generation). */
const PICTURE_TOKENS = 1056;

/** The texts of a prompt, to be counted as lines. Images and documents are counted by `mediaTokens`. */
export function promptTexts(chat: ChatRequest): string[] {
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
  return texts;
}
