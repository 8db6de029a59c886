// The maximum cost of a chat request before the call: its input is counted, and its output limit is assumed to be used up.

import type { CatalogModel } from "../../catalog/models.ts";
import { costMicros, type Measured, type Prices } from "../../catalog/prices.ts";
import { asksForLongCache } from "../../chat/cache-marks.ts";
import type { AudioPart, ChatRequest, FilePart, OpaquePart } from "../../chat/request.ts";
import { serviceName } from "../../chat/usage.ts";
import { countLineTokens, countTokens } from "../../tokens/count.ts";
import { asksForLargerContext } from "../rules/context-window.ts";
import type { Defaults } from "../rules/policy.ts";
import { promptTexts } from "./meter.ts";

/** Other vendors' vocabularies split a text into up to this many times as many tokens. */
const VOCABULARY_FACTOR = 1.5;
/** Tokens of the role and the separators around a message. */
const MESSAGE_TOKENS = 10;
/** Tokens of the most expensive image, among vendors whose rules are public. */
const IMAGE_TOKENS = 5000;
/** Tokens of a document of unknown size, which is about twenty pages. */
const FILE_TOKENS = 50_000;
/** Base64 characters per token, for documents in plain text and well-compressed speech. */
const FILE_CHARACTERS = 4;
const AUDIO_CHARACTERS = 50;

/** The maximum cost in micro-dollars; 0 if the model's prices are unknown. `betas`: the client's, which may enlarge the context. */
export function worstCaseMicros(
  chat: ChatRequest,
  model: Pick<CatalogModel, "prices" | "routes" | "largestContext" | "maxOutputTokens">,
  { betas = "", ...defaults }: Defaults & { readonly betas?: string | undefined },
): number {
  const { largestContext, maxOutputTokens } = model;
  if (pricesOf(model).length === 0) return 0;
  const most = asksForLargerContext(betas) ? undefined : largestContext;
  const inputTokens = Math.min(worstInputTokens(chat), most ?? Number.POSITIVE_INFINITY);
  const outputTokens = (chat.maxTokens ?? defaults.maxTokens ?? maxOutputTokens) * Math.max(1, chat.n ?? 1);
  const service = serviceName(chat.serviceTier) ?? serviceName(chat.extra["speed"]);
  const options = { forHour: asksForLongCache(chat), service };
  return highestCost(model, (prices) => worstCostMicros(prices, { inputTokens, outputTokens }, options));
}

/** The highest cost by the prices of a model and of its routes; 0 if none are known. */
export function highestCost(
  model: Pick<CatalogModel, "prices" | "routes">,
  costOf: (prices: Prices) => number,
): number {
  return Math.max(0, ...pricesOf(model).map(costOf));
}

function pricesOf({ prices, routes }: Pick<CatalogModel, "prices" | "routes">): Prices[] {
  const own = routes.flatMap((route) => route.prices ?? []);
  return prices === undefined ? own : [prices, ...own];
}

/**
 * The maximum cost of these tokens, if all were read again or all were written to a cache; `forHour`: to one that is kept longer.
 * `service`: the service tier or speed that the request names, which the provider may or may not grant.
 */
export function worstCostMicros(
  prices: Prices,
  usage: Measured,
  { forHour = false, service }: { forHour?: boolean; service?: string | undefined } = {},
): number {
  const written = { ...usage, cacheWriteTokens: usage.inputTokens };
  const cacheUses = [usage, written, ...(forHour ? [{ ...written, cacheWriteHourTokens: usage.inputTokens }] : [])];
  const served = service === undefined ? [] : cacheUses.map((each) => ({ ...each, service }));
  return Math.max(...[...cacheUses, ...served].map((each) => costMicros(prices, each)));
}

function worstInputTokens(chat: ChatRequest): number {
  let tokens = chat.messages.length * MESSAGE_TOKENS;
  for (const message of chat.messages) {
    for (const part of message.content) {
      if (part.type === "tool-result") for (const inner of part.content) tokens += tokensOfPart(inner);
      else tokens += tokensOfPart(part);
    }
  }
  for (const tool of chat.tools) if (tool.type === "server") tokens += countTokens(JSON.stringify(tool.value));
  return Math.ceil((tokens + countLineTokens(promptTexts(chat))) * VOCABULARY_FACTOR);
}

/** The tokens of a part that is not text of the prompt. */
function tokensOfPart(part: { type: string } | FilePart | AudioPart | OpaquePart): number {
  if (part.type === "image") return IMAGE_TOKENS;
  if (part.type === "file" && "source" in part) return tokensOfFile(part);
  if (part.type === "audio" && "data" in part) return Math.ceil(part.data.length / AUDIO_CHARACTERS);
  if (part.type === "opaque" && "value" in part) return countTokens(JSON.stringify(part.value));
  return 0;
}

function tokensOfFile({ source }: FilePart): number {
  if (source.kind === "text") return countTokens(source.text);
  return source.kind === "base64" ? Math.ceil(source.data.length / FILE_CHARACTERS) : FILE_TOKENS;
}
