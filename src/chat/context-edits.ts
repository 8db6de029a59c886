// What a client asks to be done to its conversation before it goes up, and what was done, in words of no format.

import type { Usage } from "./event.ts";

/** From when on something is done: so many tokens of input, or so many calls of tools. */
export type EditTrigger = { tokens: number } | { calls: number };

/** A record takes the place of what was said before. */
export interface CompactEdit {
  type: "compact";
  /** Above so many tokens; undefined: by the configured share of the model's window. */
  above: number | undefined;
  /** The record alone is the answer. */
  pauses: boolean;
  /** What the record is to say besides. */
  wish: string | undefined;
}

/** Old results of tools go. */
export interface ClearResultsEdit {
  type: "clear-results";
  trigger: EditTrigger;
  /** The newest calls that stay. */
  keep: number;
  /** Tokens; what would clear less is left undone. */
  atLeast: number;
  /** Names of tools that are left alone. */
  except: ReadonlySet<string>;
  /** Whether what the calls were given goes too: of all tools, of none, or of some. */
  inputs: boolean | ReadonlySet<string>;
}

/** The reasoning of old turns goes. */
export interface ClearReasoningEdit {
  type: "clear-reasoning";
  /** The newest turns with reasoning that keep it. */
  keep: number;
}

/** One thing to be done. */
export type ContextEdit = CompactEdit | ClearResultsEdit | ClearReasoningEdit;

/** What was cleared. `count`: calls or turns; `tokens`: those of the input that are gone by it. */
export interface ClearedEdit {
  type: "clear-results" | "clear-reasoning";
  count: number;
  tokens: number;
}

/** What was done to a request's conversation, as its answer tells it. */
export interface EditedContext {
  /** What was cleared, in the order in which it was asked for. */
  cleared: readonly ClearedEdit[];
  /** The item or block that carries the record; undefined where nothing was compacted. */
  record: Readonly<Record<string, unknown>> | undefined;
  /** What the summaries of this request cost; undefined where none was asked for. */
  usage: Usage | undefined;
}
