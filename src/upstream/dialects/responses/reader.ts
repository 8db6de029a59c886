// Reads the Responses stream into neutral events. The state is kept by item id, or by output index if servers send no id or a
// different one in every event. Invalid frames and early ends become an error event.

import { lookUp } from "../../../base/look-up.ts";
import type { SseFrame } from "../../../base/sse.ts";
import type { AnswerFault, AnswerFaultCode } from "../../../chat/answer-fault.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../chat/event.ts";
import type { UsageFormat } from "../../../chat/shown-usage.ts";
import { reportedUsage, ToldUsage } from "../../../chat/usage.ts";
import type { EventReader, PlainReading } from "../../dialect.ts";
import { answerFault } from "../../fault-words.ts";
import { asList, asNumber, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { openaiError } from "../openai-error.ts";
import { type DeltaKind, indexIn, type OutputItem, openItem, type Sink } from "./items.ts";

/** Reasons of answers that were cut. Steering, which is only possible over WebSocket, cuts one for another. */
const CUT: ReadonlySet<string> = new Set(["max_output_tokens", "max_tokens", "max_messages", "steered"]);

/** An item, with the values by which events refer to it. */
interface Held {
  item: OutputItem;
  family: Family;
  id: string | undefined;
  callId: string | undefined;
  index: number | undefined;
  ended: boolean;
}

/** The families of items, by the deltas that they accept. */
type Family = "message" | "reasoning" | "call" | "other";

/** Maximum number of items, which limits the memory that a hostile stream can use. No real answer has as many. */
const ITEMS_MAX = 1024;

const DELTAS: Readonly<Record<string, DeltaKind>> = {
  "response.output_text": "text",
  "response.refusal": "refusal",
  "response.function_call_arguments": "arguments",
  "response.custom_tool_call_input": "arguments",
  "response.reasoning_summary_text": "summary",
  "response.reasoning_text": "reasoning",
};

const FAMILY: Readonly<Record<DeltaKind, Family>> = {
  text: "message",
  refusal: "message",
  summary: "reasoning",
  reasoning: "reasoning",
  arguments: "call",
};

function familyOf(type: unknown): Family {
  if (type === "message" || type === "reasoning") return type;
  return type === "function_call" || type === "custom_tool_call" ? "call" : "other";
}

/** The number of an event, and the padding that hides how long its text is. */
const VARYING = /"(?:sequence_number|obfuscation)"\s*:\s*/g;

/** The piece of a text in an event that has nothing else. */
function deltaText(event: Loose): string | undefined {
  if (event["type"] !== "response.output_text.delta" || asList(event["logprobs"]).length > 0) return undefined;
  return asText(event["delta"]);
}

/** Reads one answer. */
export class ResponsesReader implements EventReader {
  readonly #held: Held[] = [];
  #ids = 0;
  #started = false;
  #done = false;
  #calledTools = false;
  readonly #told = new ToldUsage();
  /** The item of the last text. */
  #last: OutputItem | undefined;
  readonly plain: PlainReading = {
    textOf: deltaText,
    varying: VARYING,
    passed: (chars) => this.#last?.passed?.(chars),
  };

  push(frame: SseFrame, out: ChatEvent[]): void {
    if (this.#done || frame.data === "" || frame.data === "[DONE]") return;
    const event = parseRecord(frame.data);
    if (event === undefined) this.#fail("provider_stream_interrupted", "The provider sent a broken event.", out);
    else this.take(event, asText(event["type"]) ?? frame.event ?? "", out);
  }

  end(out: ChatEvent[]): void {
    if (!this.#done) this.#fail("provider_stream_interrupted", "The provider ended the answer early.", out);
  }

  /** Reads one parsed event of the stream. */
  take(event: Loose, type: string, out: ChatEvent[]): void {
    if (this.#done) return;
    const sink: Sink = { out, nextId: () => `b${this.#ids++}` };
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        this.#start(asRecord(event["response"]), out);
        return;
      case "response.output_item.added":
        this.#add(event, asRecord(event["item"]), sink);
        return;
      case "response.output_item.done":
        this.#endItem(event, asRecord(event["item"]), sink);
        return;
      case "response.output_text.annotation.added":
        this.#find(event, "message")?.item.annotate?.(indexIn(event, "content_index"), event["annotation"]);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#finish(asRecord(event["response"]), type.slice("response.".length), sink);
        return;
      case "error": {
        const error = event["error"] === undefined ? event : asRecord(event["error"]);
        this.#failWith(responsesError(error), out);
        return;
      }
    }
    const dot = type.lastIndexOf(".");
    const kind = lookUp(DELTAS, type.slice(0, dot));
    if (kind === undefined) return;
    const index = indexIn(event, kind === "summary" ? "summary_index" : "content_index");
    const held = this.#find(event, FAMILY[kind]) ?? this.#implied(kind, event, sink);
    if (held === undefined || held.ended) return;
    if (type.endsWith(".delta")) {
      this.#last = held.item;
      held.item.delta(kind, asText(event["delta"]) ?? "", index, sink, asList(event["logprobs"]));
    } else if (type.endsWith(".done")) {
      const whole = asText(event["text"]) ?? asText(event["arguments"]) ?? asText(event["input"]);
      held.item.whole(kind, whole ?? asText(event["refusal"]) ?? "", index, sink);
    }
  }

  #start(response: Loose, out: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const id = asText(response["id"]);
    const model = asText(response["model"]);
    const createdSeconds = asNumber(response["created_at"]);
    out.push({
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(createdSeconds === undefined ? {} : { createdSeconds: Math.trunc(createdSeconds) }),
    });
  }

  #add(event: Loose, item: Loose, sink: Sink): Held | undefined {
    if (this.#held.length >= ITEMS_MAX) {
      this.#fail("provider_stream_interrupted", "The provider opened too many items.", sink.out);
      return undefined;
    }
    this.#started = true;
    const family = familyOf(item["type"]);
    if (family === "call") this.#calledTools = true;
    const held: Held = {
      item: openItem(item, sink),
      family,
      id: asText(item["id"]) || asText(event["item_id"]) || undefined,
      callId: asText(item["call_id"]),
      index: asNumber(event["output_index"]),
      ended: false,
    };
    this.#held.push(held);
    return held;
  }

  #endItem(event: Loose, item: Loose, sink: Sink): void {
    const family = familyOf(item["type"]);
    const found = this.#find({ ...event, item_id: item["id"] }, family, asText(item["call_id"]));
    const held = found ?? this.#add(event, item, sink);
    if (held === undefined || held.ended) return;
    held.ended = true;
    held.item.end(item, sink);
  }

  /**
   * Finds an item by id, by call id, then by position among items of the same kind. Some servers give every event of an item a
   * different id; others give a text and the first call the same position.
   */
  #find(event: Loose, family: Family, callId?: string): Held | undefined {
    const id = asText(event["item_id"]);
    const byId = id ? this.#held.findLast((held) => held.id === id && held.family === family) : undefined;
    if (byId !== undefined) return byId;
    if (callId !== undefined) {
      const byCall = this.#held.findLast((held) => held.callId === callId);
      if (byCall !== undefined) return byCall;
    }
    const index = asNumber(event["output_index"]);
    if (index === undefined) return undefined;
    const byIndex = this.#held.findLast((held) => held.index === index && held.family === family);
    return byIndex?.callId !== undefined && callId !== undefined ? undefined : byIndex;
  }

  /** Creates an item whose `output_item.added` was omitted. A call without it would have no name. */
  #implied(kind: DeltaKind, event: Loose, sink: Sink): Held | undefined {
    const type = FAMILY[kind];
    return type === "call" ? undefined : this.#add(event, { type }, sink);
  }

  #finish(response: Loose, ending: string, sink: Sink): void {
    this.#start(response, sink.out);
    this.#told.tell(responsesUsage(response["usage"], response), response["usage"]);
    // If the last event has the wrong name, the status decides.
    const status = asText(response["status"]) ?? ending;
    if (status === "failed" || ending === "failed") {
      this.#failWith(responsesError(response["error"]), sink.out);
      return;
    }
    asList(response["output"]).forEach((value, index) => {
      const item = asRecord(value);
      this.#endItem({ output_index: index }, item, sink);
    });
    if (this.#done) return;
    for (const held of this.#held) {
      if (!held.ended) held.item.end({}, sink);
      held.ended = true;
    }
    if (status === "cancelled") {
      this.#fail("provider_stream_interrupted", "The provider cancelled the answer.", sink.out);
      return;
    }
    this.#done = true;
    const { usage, raw } = this.#told;
    const rawReason = asText(asRecord(response["incomplete_details"])["reason"]) ?? status;
    const removed = removedReasoning(response);
    sink.out.push({
      type: "finish",
      choice: 0,
      reason: this.#reason(status, rawReason),
      rawReason,
      ...(removed === 0 ? {} : { reasoningRemoved: removed }),
      ...(usage === undefined ? {} : { usage, rawUsage: raw }),
    });
  }

  #reason(status: string, raw: string): FinishReason {
    if (status !== "incomplete") return this.#calledTools ? "tool_calls" : "stop";
    if (CUT.has(raw)) return "length";
    return raw === "content_filter" ? "content_filter" : "unknown";
  }

  #fail(code: AnswerFaultCode, message: string, out: ChatEvent[]): void {
    this.#failWith({ code, message }, out);
  }

  #failWith(fault: AnswerFault, out: ChatEvent[]): void {
    this.#done = true;
    const { usage } = this.#told;
    out.push({ type: "error", ...fault, ...(usage === undefined ? {} : { usage }) });
  }
}

/** The events of a whole answer. */
export function responsesEvents(body: unknown): ChatEvent[] {
  const response = asRecord(body);
  const out: ChatEvent[] = [];
  const reader = new ResponsesReader();
  if (response["error"] != null && response["output"] === undefined)
    reader.take({ error: response["error"] }, "error", out);
  else if (!Array.isArray(response["output"])) {
    return [{ type: "error", code: "provider_unavailable", message: "The provider's answer is not a response." }];
  } else reader.take({ response }, "response.completed", out);
  return out;
}

/**
 * The number of reasoning items of the history that the upstream left out. OpenAI binds them to what precedes them, the model, the end
 * user and the organisation, and lists those that no longer fit in `input_transformations` (guide "Using GPT-6.2", November 2026).
 */
export function removedReasoning(response: Loose): number {
  return asList(response["input_transformations"]).filter((value) => {
    const { type, action } = asRecord(value);
    return type === "reasoning" && action === "removed";
  }).length;
}

/** Whether an item is a search, rather than the opening of a page that was found, which is not billed. */
function isSearch(value: unknown): boolean {
  const { type, action } = asRecord(value);
  return type === "web_search_call" && (asRecord(action)["type"] ?? "search") === "search";
}

/**
 * Reads usage as the Responses API writes it; undefined if nothing is reported. `response`: the object that it stands in, which names
 * the service tier and holds the searches.
 */
export function responsesUsage(value: unknown, response: Loose = {}): Usage | undefined {
  const usage = asRecord(value);
  const details = asRecord(usage["input_tokens_details"]);
  return reportedUsage({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cached: details["cached_tokens"],
    cacheWrite: details["cache_write_tokens"],
    reasoning: asRecord(usage["output_tokens_details"])["reasoning_tokens"],
    searches: asList(response["output"]).filter(isSearch).length,
    service: response["service_tier"],
  });
}

/** Writes usage in the format of the Responses API. */
export function plainResponsesUsage(usage: Usage): Loose {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens, reasoningTokens = 0 } = usage;
  const written = cacheWriteTokens === undefined ? {} : { cache_write_tokens: cacheWriteTokens };
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, ...written },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    ...(usage.costUsd === undefined ? {} : { cost: usage.costUsd }),
  };
}

/** The format of usage in the Responses API. */
export const RESPONSES_USAGE: UsageFormat = {
  read: (raw) => responsesUsage(raw),
  write: plainResponsesUsage,
  totals: ["input_tokens", "output_tokens", "total_tokens"],
  inputParts: ["input_tokens_details"],
  outputParts: ["output_tokens_details"],
};

/** The error for an error object inside an answer. */
export function responsesError(error: unknown): AnswerFault {
  // The type is that of the event, not that of the error.
  const { type: _type, ...words } = asRecord(error);
  return answerFault(openaiError(asRecord(error)["type"] === "error" ? words : error));
}
