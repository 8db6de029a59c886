// A new record: what a model makes of the messages, part by part, merged into the record before, and the ledger by rule.

import { type Entry, textOfEntry } from "../../chat/entries.ts";
import type { Usage } from "../../chat/event.ts";
import { emptyLedger, enter, enterMedia, type Ledger } from "./ledger.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { partsFor, type SummaryPrompt, summaryOf, summaryPrompt } from "./prompt.ts";
import { type ConversationRecord, recordOf } from "./record.ts";
import type { Space } from "./space.ts";

/** What a model answered. */
export interface SummaryAnswer {
  text: string;
  /** False where a limit cut it. */
  whole: boolean;
  /** What it cost, where that is told. */
  usage?: Usage;
}

/** Asks the summarising model; throws when no one answers. */
export type AskSummary = (prompt: SummaryPrompt, maxTokens: number) => Promise<SummaryAnswer>;

/** What is summarised, and by whom. */
export interface SummaryWork {
  ask: AskSummary;
  /** The window of the summarising model. */
  window: number;
  /** What the client wants of the summary besides. */
  wish?: string | undefined;
}

/** Calls of one compaction; of more the oldest part is left out. */
const CALLS_MAX = 8;
/** Of the window a call takes so much for the conversation; the record, the rules and the answer have the rest. */
const PART_SHARE = 0.5;
/** The longest answer that is asked for. */
const ANSWER_TOKENS_MAX = 8192;

/** The record of the messages after `previous`. Throws what `ask` throws; undefined where an answer cannot be used. */
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
    // What lies between cannot be counted in messages; that something is missing is said.
    omitted: (record?.omitted ?? 0) + (all.length > parts.length ? rest.length : 0),
  };
}

/** The record of messages that are left out unread: what is known before, and their names. */
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

/** The record where no summary can be obtained and nothing else is kept: the latest words themselves. */
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

/** A record among the messages, as a client hands it back, is the one to continue from. */
function takeRecord(
  middle: readonly MeasuredElement[],
  previous: ConversationRecord | undefined,
): { record: ConversationRecord | undefined; rest: MeasuredElement[] } {
  let record = previous;
  const rest: MeasuredElement[] = [];
  for (const one of middle) {
    const found = recordOf(one.entry);
    if (found === undefined) {
      // Those stay word for word.
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
