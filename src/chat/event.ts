// The neutral answer: one closed union of events. A block (text, reasoning, tool call) has a start, deltas and an end,
// and an id unique in the answer. Legal order is written down in grammar.ts. Raw values are kept beside the unified
// ones.

import type { AnswerFault } from "./answer-fault.ts";

/** Token counts. Absent means the upstream did not say, which is not zero. */
export interface Usage {
  /** All input tokens: cached and cache-write tokens included. */
  inputTokens: number;
  /** All output tokens: reasoning tokens included. */
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** True where we counted because the upstream did not report. */
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
  /** Input usage known at the start (Anthropic `message_start`). */
  usage?: Usage;
  /** Members of the upstream's envelope worth keeping, as `system_fingerprint`, `service_tier`. */
  raw?: Readonly<Record<string, unknown>>;
}

export interface TextStart {
  type: "text-start";
  choice: number;
  id: string;
  /** A refusal is text of its own kind. */
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
  /** The upstream's item id, where it must come back. */
  itemId?: string;
}
export interface ReasoningDelta {
  type: "reasoning-delta";
  choice: number;
  id: string;
  text: string;
  /** Summary text rather than the reasoning itself; parts are told apart by index. */
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
  /** The protocol that minted the opaque values. */
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
  /** The protocol that minted the signature; absent: Gemini. */
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

/** A block only one protocol has words for (server tool use and results …); whole, not streamed. */
export interface OpaqueEvent {
  type: "opaque";
  choice: number;
  origin: string;
  value: Readonly<Record<string, unknown>>;
}

export interface FinishEvent {
  type: "finish";
  choice: number;
  reason: FinishReason;
  /** The upstream's own word. */
  rawReason?: string;
  /** The stop sequence that was met. */
  stopSequence?: string;
  /** On the last finish only. */
  usage?: Usage;
  rawUsage?: unknown;
}

/** Ends the answer; nothing follows. */
export interface ErrorEvent extends AnswerFault {
  type: "error";
  /** What went before the failure and cost tokens. */
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
  | OpaqueEvent
  | FinishEvent
  | ErrorEvent;
