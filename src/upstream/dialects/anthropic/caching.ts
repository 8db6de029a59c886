// Prompt caching at Anthropic, for clients of protocols whose vendor caches in another way: OpenAI places a breakpoint at the end
// by itself unless told otherwise, and its clients may mark further ones.

import { isRecord } from "../../../base/json-object.ts";
import { asCacheControl, isBreakpoint } from "../../../chat/cache-marks.ts";
import type { CacheControl, ChatRequest } from "../../../chat/request.ts";
import type { RequestContext } from "../../dialect.ts";
import { asList, asRecord, type Loose } from "../loose.ts";
import type { AnthropicBlock } from "./messages.ts";

/** Anthropic answers 400 to more markers than this, and OpenAI considers only the latest of more. */
const MARKS_MAX = 4;

/**
 * Places the markers of a request: converts the client's, and asks for caching of the whole prompt. Returns true if the client's
 * `prompt_cache_options` cannot be followed.
 */
export function placeMarks(
  body: Record<string, unknown>,
  { chat, ctx, given }: { chat: ChatRequest; ctx: RequestContext; given: unknown },
): boolean {
  const options = asRecord(given);
  const isImplicit = options["mode"] !== "explicit";
  const whole = isImplicit && shouldCache(chat, ctx);
  const automatic = asCacheControl({ mode: "explicit" }, options["ttl"]);
  if (whole) body["cache_control"] = automatic;
  convertMarks(body, options["ttl"], whole ? automatic : undefined);
  if (given === undefined || !isRecord(given)) return given !== undefined;
  return Object.keys(given).length > 0 && isImplicit && ctx.quirks.automatic_cache !== true;
}

/**
 * Whether the vendor should cache the prompt. Writing to the cache costs more than plain input, so it is only requested if the
 * same beginning is likely to be sent again, and never beside the client's own markers. The marker is on the request and not on a
 * block, so that earlier messages stay the same from turn to turn.
 */
function shouldCache(chat: ChatRequest, ctx: RequestContext): boolean {
  if (ctx.quirks.automatic_cache !== true || ctx.clientCaches === true) return false;
  const key = chat.extra["prompt_cache_key"];
  const repeats = chat.tools.length > 0 || chat.messages.some(({ role }) => role === "assistant") || key != null;
  return repeats && !isMarked(chat);
}

/** Whether the client has placed Anthropic's markers. */
function isMarked(chat: ChatRequest): boolean {
  const marked = (part: object): boolean => {
    const { cacheControl: mark, content } = part as { cacheControl?: CacheControl; content?: unknown };
    return (mark !== undefined && !isBreakpoint(mark)) || (Array.isArray(content) && content.some(marked));
  };
  return chat.tools.some(marked) || chat.messages.some(marked);
}

/** Converts OpenAI's markers; the client's own stay as they are. `automatic`: the marker of the whole prompt. */
function convertMarks(body: Loose, lifetime: unknown, automatic: CacheControl | undefined): void {
  const marked = [...asList(body["tools"]), ...asList(body["system"]), ...blocksOf(body)].filter(
    (block): block is AnthropicBlock => asRecord(block)["cache_control"] !== undefined,
  );
  if (!marked.some((block) => isBreakpoint(asRecord(block["cache_control"])))) return;
  const kept = marked.splice(-(MARKS_MAX - (automatic === undefined ? 0 : 1)));
  for (const block of marked) delete block["cache_control"];
  // Anthropic refuses a longer lifetime after a shorter one.
  let isLong = automatic?.["ttl"] !== undefined;
  for (const block of kept.reverse()) {
    const mark = asCacheControl(asRecord(block["cache_control"]), lifetime);
    isLong ||= mark["ttl"] === "1h";
    block["cache_control"] = isLong ? { ...mark, ttl: "1h" } : mark;
  }
}

/** The blocks of all turns, in order, with those in tool results before the results themselves. */
function blocksOf(body: Loose): unknown[] {
  return asList(body["messages"]).flatMap((turn) =>
    asList(asRecord(turn)["content"]).flatMap((block) => [...asList(asRecord(block)["content"]), block]),
  );
}
