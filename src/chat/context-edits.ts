// The edits that a client requests for its conversation before it is sent, and their results, independent of the format.

import type { Usage } from "./event.ts";

/** The trigger of an edit: this many input tokens, or tool calls. */
export type EditTrigger = { tokens: number } | { calls: number };

/** A record replaces the earlier conversation. */
export interface CompactEdit {
  type: "compact";
  /** Above this many tokens; undefined: above the configured share of the model's window. */
  above: number | undefined;
  /** The record alone is the answer. */
  pauses: boolean;
  /** Further instructions for the record. */
  wish: string | undefined;
}

/** Old tool results are cleared. */
export interface ClearResultsEdit {
  type: "clear-results";
  trigger: EditTrigger;
  /** Number of newest calls to keep. */
  keep: number;
  /** Tokens; smaller savings are skipped. */
  atLeast: number;
  /** Names of tools that are left alone. */
  except: ReadonlySet<string>;
  /** Whether arguments of calls are cleared too: of all tools, of none, or of some. */
  inputs: boolean | ReadonlySet<string>;
}

/** The reasoning of old turns is cleared. */
export interface ClearReasoningEdit {
  type: "clear-reasoning";
  /** Number of newest turns with reasoning that keep it. */
  keep: number;
}

/** One edit. */
export type ContextEdit = CompactEdit | ClearResultsEdit | ClearReasoningEdit;

/** What was cleared. `count`: calls or turns; `tokens`: input tokens saved. */
export interface ClearedEdit {
  type: "clear-results" | "clear-reasoning";
  count: number;
  tokens: number;
}

/** What was done to a request's conversation, as reported in its answer. */
export interface EditedContext {
  /** What was cleared, in the requested order. */
  cleared: readonly ClearedEdit[];
  /** The item or block with the record; undefined if nothing was compacted. */
  record: Readonly<Record<string, unknown>> | undefined;
  /** The usage of this request's summaries; undefined if there were none. */
  usage: Usage | undefined;
}
