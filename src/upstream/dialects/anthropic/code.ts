// The dialect anthropic-messages: Anthropic's Messages API, which many other servers also speak.

import { spliceMembers } from "../../../base/json-splice.ts";
import { lastFinish } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import type { Dialect, RequestContext, UpstreamRequest } from "../../dialect.ts";
import { anthropicEndUser } from "../../end-user.ts";
import { faultFromHttp, type UpstreamFault } from "../../fault.ts";
import { withUsage, writtenOutput } from "../../output-text.ts";
import { refusedFor } from "../../quirks.ts";
import { asList, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { ANTHROPIC } from "./messages.ts";
import { AnthropicReader, anthropicError, anthropicEvents } from "./reader.ts";
import { AnthropicRelay, answerNames } from "./relay.ts";
import { anthropicHeaders, anthropicRequest } from "./request.ts";
import { MESSAGE_USAGE, withoutCompactions } from "./usage.ts";

/** The dialect. */
export const ANTHROPIC_DIALECT: Dialect = {
  name: ANTHROPIC,
  hasThreads: true,
  parsesInputs: true,
  request: anthropicRequest,
  reader: () => new AnthropicReader(),
  events: anthropicEvents,
  fault: anthropicFault,
  familyHeaders: limitHeaders,
  lossless: {
    request: losslessRequest,
    relay: (identity) => new AnthropicRelay(identity),
    result: (text, identity) => {
      const message = parseRecord(text);
      const events = anthropicEvents(message);
      for (const event of events) {
        if (event.type === "reasoning-end") identity.sealed?.(event.signature ?? event.redacted);
      }
      const ours: Record<string, unknown> = { ...answerNames(asRecord(message), identity) };
      const reported = lastFinish(events)?.usage;
      const usage = identity.settle(reported, writtenOutput(events));
      const raw = message?.["usage"];
      const shown = shownUsage(raw, withoutCompactions(usage, raw), MESSAGE_USAGE);
      if (shown !== raw) ours["usage"] = shown;
      return { text: spliceMembers(text, ours, message), events: withUsage(events, usage) };
    },
  },
  tokenCount: (text, chat, ctx, members) => ({
    ...losslessRequest(text, chat, ctx, members),
    path: "/messages/count_tokens",
  }),
};

function losslessRequest(
  text: string,
  chat: ChatRequest,
  ctx: RequestContext,
  members: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  const dropped: string[] = [];
  const set: Record<string, unknown> = { model: ctx.model };
  if (ctx.stream !== chat.stream) set["stream"] = ctx.stream;
  const body = ctx.body ?? asRecord(parseRecord(text));
  // These members are for the gateway, and upstreams refuse unknown ones.
  for (const name of ["thread_id", "conversation_id"]) {
    if (name in body) set[name] = undefined;
    if (name in asRecord(body["metadata"])) {
      const { thread_id: _thread, conversation_id: _conversation, ...metadata } = asRecord(body["metadata"]);
      set["metadata"] = metadata;
    }
  }
  const edits = { ...set, ...members };
  const named = anthropicEndUser(asRecord("metadata" in edits ? edits["metadata"] : body["metadata"]), ctx);
  if (named !== undefined) edits["metadata"] = named;
  if (ctx.reasoningRemoved === true) stopThinking({ ...body, ...members }, edits, dropped);
  for (const name of refusedFor(ctx, chat.reasoning)) {
    if (name in body) dropped.push(name);
    edits[name] = undefined;
  }
  return { path: "/messages", headers: anthropicHeaders(ctx), body: spliceMembers(text, edits), dropped };
}

/**
 * With a thinking budget, a tool loop only continues thinking if its turn begins with thinking. Otherwise, thinking is turned
 * off.
 */
function stopThinking(body: Loose, edits: Record<string, unknown>, dropped: string[]): void {
  if (asRecord(body["thinking"])["type"] !== "enabled" || !isCutLoop(asList(body["messages"]).map(asRecord))) return;
  edits["thinking"] = undefined;
  dropped.push("thinking");
  const management = asRecord(body["context_management"]);
  const rules = asList(management["edits"]);
  const kept = rules.filter((rule) => !asText(asRecord(rule)["type"])?.startsWith("clear_thinking"));
  // Anthropic refuses edits that clear thinking if thinking is off.
  if (kept.length === rules.length) return;
  edits["context_management"] = kept.length > 0 ? { ...management, edits: kept } : undefined;
}

/** Whether the model's last turn calls tools and does not begin with thinking. */
function isCutLoop(messages: readonly Loose[]): boolean {
  const blocks = asList(messages.findLast((message) => message["role"] === "assistant")?.["content"]).map(asRecord);
  const first = asText(blocks[0]?.["type"]) ?? "";
  return blocks.some((block) => block["type"] === "tool_use") && !first.endsWith("thinking");
}

/** The names of rate limit headers, and the allowed characters of their values: numbers, times and words. */
const LIMIT_HEADER = /^anthropic-ratelimit-[a-z0-9-]+$/;
const LIMIT_VALUE = /^(?:[\d.]{1,20}|\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})|[a-z_]{1,32})$/;

/** Anthropic's rate limit headers, which its own clients use. */
function limitHeaders(headers: Headers): Record<string, string> {
  const out: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (LIMIT_HEADER.test(name) && LIMIT_VALUE.test(value)) out[name] = value;
  });
  return out;
}

/** Reads the error body `{type:"error",error:{type,message}}`. */
function anthropicFault(status: number, body: string, headers: Headers): UpstreamFault {
  const said = anthropicError(parseRecord(body)?.["error"], `The provider answered with status ${status}.`);
  return faultFromHttp(status, said, headers, { family: ANTHROPIC, headers: limitHeaders(headers) });
}
