// What whole and streamed answers of the messages format share: the envelope, stop reasons, usage, citations and signatures.

import { isRecord } from "../../base/json-object.ts";
import type { FinishReason, ImageEvent, Usage } from "../../chat/event.ts";
import { pageCitations } from "../../chat/page-citations.ts";
import { webSearchesOf } from "../../chat/usage.ts";
import { given } from "../check.ts";
import type { AnswerContext } from "../format.ts";
import { carry, type Seals, type Source, sealed } from "../seal-envelopes.ts";
import { MESSAGES_ORIGIN } from "./blocks.ts";
import { appliedEdits, iterations } from "./context-edits.ts";

/** A content block, or the data of a stream's event. */
export type MessagesBlock = Record<string, unknown>;

/** A message before its end, without its content. */
export function envelope(exchange: AnswerContext): MessagesBlock {
  return { id: exchange.id, type: "message", role: "assistant", model: exchange.model };
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  // If the answer contains no call, the client has no tool to run.
  tool_calls: "end_turn",
  content_filter: "refusal",
  refusal: "refusal",
  stop_sequence: "stop_sequence",
  pause: "pause_turn",
  context_window: "model_context_window_exceeded",
  compaction: "compaction",
  unknown: "end_turn",
};

/** Stop reasons that are kept even if there is a tool call: the call may be incomplete, or must not be run. */
const OVER_TOOL_USE: ReadonlySet<FinishReason> = new Set([
  "length",
  "content_filter",
  "refusal",
  "pause",
  "context_window",
]);

/** The members with the stop reason. An answer with a tool call stops for that call, whatever the upstream said. */
export function stopMembers(
  reason: FinishReason,
  stopSequence: string | undefined,
  calledTool: boolean,
): MessagesBlock {
  const stop = calledTool && !OVER_TOOL_USE.has(reason) ? "tool_use" : STOP_REASONS[reason];
  return { stop_reason: stop, stop_sequence: stop === "stop_sequence" ? (stopSequence ?? null) : null };
}

/** The usage and the edits as reported in a whole answer, or at the end of a stream. */
export function endMembers(usage: Usage | undefined, { edited }: AnswerContext): MessagesBlock {
  const own = usageMembers(usage);
  const parts = iterations(edited, own, usageMembers);
  return {
    ...(edited === undefined ? {} : { context_management: appliedEdits(edited) }),
    usage: parts === undefined ? own : { ...own, iterations: parts },
  };
}

/** The usage in this format, in which `input_tokens` excludes cached input. */
export function usageMembers(usage: Usage | undefined): MessagesBlock {
  const read = usage?.cachedTokens ?? 0;
  const written = usage?.cacheWriteTokens ?? 0;
  return {
    input_tokens: Math.max(0, (usage?.inputTokens ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: usage?.outputTokens ?? 0,
    ...given({
      output_tokens_details:
        usage?.reasoningTokens === undefined ? undefined : { thinking_tokens: usage.reasoningTokens },
      server_tool_use: toolUses(usage),
      cost: usage?.costUsd,
    }),
  };
}

/** What the tools of the gateway and of the provider did. */
function toolUses(usage: Usage | undefined): MessagesBlock | undefined {
  const searches = usage && webSearchesOf(usage);
  const fetches = usage?.webFetches;
  if (searches === undefined && fetches === undefined) return undefined;
  return { web_search_requests: searches ?? 0, web_fetch_requests: fetches ?? 0 };
}

/**
 * The annotations that are citations of this format, and those of pages in OpenAI's formats as citations of search results, since
 * the ones of a web search have a value that only Anthropic can make.
 */
export function citationsOf(annotations: readonly unknown[] | undefined): unknown[] {
  if (annotations === undefined) return [];
  const own = annotations.filter(
    (one) => isRecord(one) && typeof one["type"] === "string" && one["type"].endsWith("_location"),
  );
  const numbers = new Map<string, number>();
  const pages = pageCitations(annotations).map(({ url, title, quote }) => {
    const search_result_index = numbers.get(url) ?? numbers.size;
    numbers.set(url, search_result_index);
    const at = { search_result_index, start_block_index: 0, end_block_index: 0 };
    return { type: "search_result_location", source: url, title, cited_text: quote, ...at };
  });
  return [...own, ...pages];
}

/** The `signature` of a thinking block: this protocol's own is unchanged, others are in an envelope; "" if there is none. */
export function signatureOf(
  seals: Seals,
  how: { summary: boolean; text: boolean; source: Source | undefined },
): string {
  const origin = seals.origin ?? how.source?.protocol ?? MESSAGES_ORIGIN;
  if (origin === MESSAGES_ORIGIN) return seals.signature ?? "";
  const values = sealed(seals, how);
  return values === undefined ? "" : carry(values);
}

/** The `data` of a redacted block of this protocol; undefined for other blocks. */
export function redactedOf(seals: Seals): string | undefined {
  return (seals.origin ?? MESSAGES_ORIGIN) === MESSAGES_ORIGIN ? seals.redacted : undefined;
}

/** A picture that the model drew. Anthropic's models draw none; this is how the format writes those of clients. */
export function imageBlock({ source }: Pick<ImageEvent, "source">): MessagesBlock {
  const given =
    source.kind === "url"
      ? { type: "url", url: source.url }
      : { type: "base64", media_type: source.mediaType, data: source.data };
  return { type: "image", source: given };
}
