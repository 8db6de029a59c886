// Builds a new record: a model summarises the messages part by part and merges them into the earlier record, and patterns extract
// the names for the ledger.

import { type Entry, textOfEntry } from "../../chat/entries.ts";
import type { Usage } from "../../chat/event.ts";
import { emptyLedger, enter, enterMedia, type Ledger } from "./ledger.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { partsFor, type SummaryPrompt, summaryOf, summaryPrompt } from "./prompt.ts";
import { type ConversationRecord, recordOf } from "./record.ts";
import type { Space } from "./space.ts";

/** A model's answer. */
export interface SummaryAnswer {
  text: string;
  /** False if the answer was cut off by an output limit. */
  whole: boolean;
  /** The usage of the call, if it is known. */
  usage?: Usage;
}

/** Calls the summarising model. Throws if no provider answers. */
export type AskSummary = (prompt: SummaryPrompt, maxTokens: number) => Promise<SummaryAnswer>;

/** The model call for a summary, and what it depends on. */
export interface SummaryWork {
  ask: AskSummary;
  /** The context window of the summarising model, in tokens. */
  window: number;
  /** The client's own instructions for the summary. */
  wish?: string | undefined;
}

/** Maximum number of calls of one compaction. If more are needed, the oldest parts are dropped. */
const CALLS_MAX = 8;
/** Share of the window for the conversation in one call; the rest is for the record, the rules and the answer. */
const PART_SHARE = 0.5;
/** Maximum output tokens of a call. */
const ANSWER_TOKENS_MAX = 8192;

/** The record of `previous` and the messages after it. Throws what `ask` throws; undefined if an answer cannot be used. */
export async function summarise(
  tokens: TokenMemory,
  { ask, window, wish }: SummaryWork,
  { middle, previous }: { middle: readonly MeasuredElement[]; previous: ConversationRecord | undefined },
): Promise<ConversationRecord | undefined> {
  const { record, rest } = takeRecord(middle, previous);
  const chars = rest.reduce((sum, { entry }) => sum + textOfEntry(entry).length, 0);
  const counted = rest.reduce((sum, one) => sum + one.tokens, 0);
  const perChar = Math.max(0.2, chars === 0 ? 0.3 : counted / chars);
  const all = partsFor(rest, Math.max(2000, Math.floor((window * PART_SHARE) / perChar)));
  const parts = all.slice(-CALLS_MAX);
  const maxTokens = Math.max(256, Math.min(ANSWER_TOKENS_MAX, Math.floor(window / 6)));
  let summary = record?.summary ?? "";
  for (const part of parts) {
    const answer = await ask(summaryPrompt(summary, part, wish), maxTokens);
    const made = summaryOf(answer, { tokens: await tokens.count(answer.text), window });
    if (made === undefined) return undefined;
    summary = made;
  }
  return {
    summary,
    ledger: ledgerOf(record?.ledger ?? emptyLedger(), rest),
    messages: (record?.messages ?? 0) + rest.length,
    // The number of messages in dropped parts is unknown. If any part was dropped, all messages are counted as omitted.
    omitted: (record?.omitted ?? 0) + (all.length > parts.length ? rest.length : 0),
  };
}

/** The record of messages that are dropped without a summary: the earlier record, with the names of the dropped messages. */
export function recordWithout(
  middle: readonly MeasuredElement[],
  previous: ConversationRecord | undefined,
): ConversationRecord {
  const { record, rest } = takeRecord(middle, previous);
  return {
    summary: record?.summary ?? "",
    ledger: ledgerOf(record?.ledger ?? emptyLedger(), rest),
    messages: (record?.messages ?? 0) + rest.length,
    omitted: (record?.omitted ?? 0) + rest.length,
  };
}

/** The record if no summary can be obtained and no messages are kept beside it: the latest messages are quoted in it. */
export function latestOf(
  middle: readonly MeasuredElement[],
  previous: ConversationRecord | undefined,
  { record: tokens }: Space,
): ConversationRecord {
  const bare = recordWithout(middle, previous);
  const chars = Math.floor((tokens / 2) * LATEST_CHARS_PER_TOKEN);
  const latest = partsFor(takeRecord(middle, previous).rest, chars).at(-1) ?? "";
  return { ...bare, summary: `${bare.summary}\n\n## Latest messages\n${latest}`.trim() };
}

const LATEST_CHARS_PER_TOKEN = 3;

/** Separates records from the messages. The last record found replaces `previous`, so that the new one continues from it. */
function takeRecord(
  middle: readonly MeasuredElement[],
  previous: ConversationRecord | undefined,
): { record: ConversationRecord | undefined; rest: MeasuredElement[] } {
  let record = previous;
  const rest: MeasuredElement[] = [];
  for (const one of middle) {
    const found = recordOf(one.entry);
    if (found === undefined) {
      // System messages are kept unchanged beside the record.
      if (one.entry.role !== "system") rest.push(one);
    } else record = found;
  }
  return { record, rest };
}

function ledgerOf(ledger: Ledger, part: readonly MeasuredElement[]): Ledger {
  let out = ledger;
  for (const { entry } of part) {
    out = enter(out, textOfEntry(entry));
    out = enterMedia(out, mediaOf(entry));
  }
  return out;
}

function mediaOf(entry: Entry): string[] {
  return entry.pieces.flatMap((piece) =>
    piece.type === "media" ? [piece.label] : piece.type === "result" ? [...piece.media] : [],
  );
}
