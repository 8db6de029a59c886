// The neutral answer: one closed union of events. A block (text, reasoning, tool call) has a start, deltas and an end, and an
// id unique in the answer. The legal order is defined in grammar.ts. Raw values are kept beside the unified ones.

import type { AnswerFault } from "./answer-fault.ts";
import type { MediaSource } from "./request.ts";
import type { Citation, ServerToolCall, ServerToolOutput } from "./server-tools.ts";

/** Token counts. Absent means that the upstream did not report it, which differs from zero. */
export interface Usage {
  /** All input tokens, including cached and cache-write tokens. */
  inputTokens: number;
  /** All output tokens, including reasoning tokens. */
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is kept for an hour, which costs more. */
  cacheWriteHourTokens?: number;
  reasoningTokens?: number;
  /** Web searches that the provider ran. Absent: none. */
  searches?: number;
  /** Web searches and pages that the gateway itself ran and read for the answer. Absent: none. */
  webSearches?: number;
  webFetches?: number;
  /** The service tier or speed that the answer names, such as `priority` or `fast`. Absent: the ordinary one. */
  service?: string;
  /** True if output followed the report, so that it does not include all output. Only in reports, never in settled usage. */
  partial?: boolean;
  /** What the answer costs in US dollars, for clients that ask for it. Only in settled usage. */
  costUsd?: number;
  /** True if we counted because the upstream did not report. */
  estimated?: boolean;
}

/** Why the model stopped, unified. */
export type FinishReason =
  | "stop"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "refusal"
  | "stop_sequence"
  | "pause"
  | "context_window"
  /** The answer is a record of the conversation. */
  | "compaction"
  | "unknown";

export interface StartEvent {
  type: "start";
  /** The upstream's own id and model. */
  id?: string;
  model?: string;
  createdSeconds?: number;
  /** Input usage, if known at the start (Anthropic `message_start`). */
  usage?: Usage;
  /** Members of the upstream's envelope to keep, such as `system_fingerprint` and `service_tier`. */
  raw?: Readonly<Record<string, unknown>>;
}

export interface TextStart {
  type: "text-start";
  choice: number;
  id: string;
  /** A refusal is a separate kind of text. */
  refusal?: boolean;
}
export interface TextDelta {
  type: "text-delta";
  choice: number;
  id: string;
  text: string;
  /** OpenAI-shaped token log-probabilities of this delta. */
  logprobs?: unknown[];
}
export interface TextEnd {
  type: "text-end";
  choice: number;
  id: string;
  /** Citations or annotations, verbatim. */
  annotations?: unknown[];
}

export interface ReasoningStart {
  type: "reasoning-start";
  choice: number;
  id: string;
  /** The upstream's item id, if it must be returned. */
  itemId?: string;
}
export interface ReasoningDelta {
  type: "reasoning-delta";
  choice: number;
  id: string;
  text: string;
  /** Summary text rather than the reasoning itself; parts are distinguished by index. */
  summaryIndex?: number;
}
export interface ReasoningEnd {
  type: "reasoning-end";
  choice: number;
  id: string;
  signature?: string;
  redacted?: string;
  encrypted?: string;
  /** OpenRouter's `reasoning_details`, verbatim. */
  details?: readonly unknown[];
  /** The protocol that issued the opaque values. */
  origin?: string;
}

export interface ToolStart {
  type: "tool-start";
  choice: number;
  id: string;
  callId: string;
  name: string;
  kind: "function" | "custom";
  namespace?: string;
  signature?: string;
  /** The protocol that issued the signature; absent: Gemini. */
  origin?: string;
  itemId?: string;
}
export interface ToolDelta {
  type: "tool-delta";
  choice: number;
  id: string;
  /** A fragment of the argument text. */
  text: string;
}
export interface ToolEnd {
  type: "tool-end";
  choice: number;
  id: string;
}

/** A picture that the model drew; complete, not streamed. */
export interface ImageEvent {
  type: "image";
  choice: number;
  source: Exclude<MediaSource, { kind: "file" }>;
  /** The block as a protocol sent it, for clients of the same one; it may have members that only this protocol has. */
  origin?: string;
  value?: Readonly<Record<string, unknown>>;
}

/** A block that only one protocol has (server tool use and results …); complete, not streamed. */
export interface OpaqueEvent {
  type: "opaque";
  choice: number;
  origin: string;
  value: Readonly<Record<string, unknown>>;
}

/** A call of a tool that the gateway runs within the answer. */
export interface ServerToolStart extends ServerToolCall {
  type: "server-tool-start";
  choice: number;
  id: string;
}
export interface ServerToolEnd {
  type: "server-tool-end";
  choice: number;
  id: string;
  input: Readonly<Record<string, unknown>>;
}
/** What the tool gave. It comes after the end of its call, whose id it has. */
export interface ServerToolResult {
  type: "server-tool-result";
  choice: number;
  id: string;
  output: ServerToolOutput;
}

/** A source of the open text with that id. */
export interface CitationEvent {
  type: "citation";
  choice: number;
  id: string;
  citation: Citation;
}

export interface FinishEvent {
  type: "finish";
  choice: number;
  reason: FinishReason;
  /** The upstream's own value. */
  rawReason?: string;
  /** The stop sequence that was met. */
  stopSequence?: string;
  /** How many reasoning items of the history the upstream left out; absent if none. */
  reasoningRemoved?: number;
  /** Only on the last finish. */
  usage?: Usage;
  rawUsage?: unknown;
}

/** Ends the answer; nothing follows. */
export interface ErrorEvent extends AnswerFault {
  type: "error";
  /** What preceded the failure and cost tokens. */
  usage?: Usage;
  retryAfterSeconds?: number;
}

export type ChatEvent =
  | StartEvent
  | TextStart
  | TextDelta
  | TextEnd
  | ReasoningStart
  | ReasoningDelta
  | ReasoningEnd
  | ToolStart
  | ToolDelta
  | ToolEnd
  | ImageEvent
  | OpaqueEvent
  | ServerToolStart
  | ServerToolEnd
  | ServerToolResult
  | CitationEvent
  | FinishEvent
  | ErrorEvent;

/** The last finish among the events of an answer, the one with its usage. */
export function lastFinish(events: readonly ChatEvent[]): FinishEvent | undefined {
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at]!;
    if (event.type === "finish") return event;
  }
  return undefined;
}

/** The failure among the events of an answer. */
export function failureOf(events: readonly ChatEvent[]): ErrorEvent | undefined {
  for (const event of events) if (event.type === "error") return event;
  return undefined;
}
