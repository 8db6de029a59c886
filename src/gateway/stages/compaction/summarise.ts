// Builds a new record: a model summarises the messages part by part and merges them into the earlier record, and patterns extract
// the names for the ledger.

import { textOfEntry } from "../../../chat/entries.ts";
import type { Usage } from "../../../chat/event.ts";
import { emptyLedger, enterAll } from "./ledger.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { partsFor, type SummaryPrompt, summaryOf, summaryPrompt } from "./prompt.ts";
import { type ConversationRecord, recordOf } from "./record.ts";
import { cutMiddle, firstUserAt, wordsOf } from "./shape.ts";

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
  /** Aborted when nobody waits for the record any longer. */
  signal?: AbortSignal | undefined;
}

/** The messages to record, and the earlier record that they continue. */
export interface RecordInput {
  middle: readonly MeasuredElement[];
  previous: ConversationRecord | undefined;
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
  { ask, window, wish, signal }: SummaryWork,
  { middle, previous }: RecordInput,
): Promise<ConversationRecord | undefined> {
  const { record, rest } = takeRecord(middle, previous);
  const chars = rest.reduce((sum, { entry }) => sum + textOfEntry(entry).length, 0);
  const counted = rest.reduce((sum, one) => sum + one.tokens, 0);
  const perChar = Math.max(0.2, chars === 0 ? 0.3 : counted / chars);
  const charsMax = Math.max(2000, Math.floor((window * PART_SHARE) / perChar));
  const everyPart = await partsFor(rest, charsMax);
  const parts = everyPart.slice(-CALLS_MAX);
  const dropped = everyPart.slice(0, -CALLS_MAX).reduce((sum, { messages }) => sum + messages, 0);
  const maxTokens = Math.max(256, Math.min(ANSWER_TOKENS_MAX, Math.floor(window / 6)));
  let summary = record?.summary ?? "";
  // What the user asked for in the dropped parts is kept by rule.
  if (dropped > 0) summary = withWishes(summary, rest.slice(0, dropped), Math.floor(charsMax / 4));
  for (const { text } of parts) {
    signal?.throwIfAborted();
    const answer = await ask(summaryPrompt(summary, text, wish), maxTokens);
    const made = summaryOf(answer, { tokens: await tokens.count(answer.text), window });
    if (made === undefined) return undefined;
    summary = made;
  }
  return { ...(await recordOfNames({ record, rest }, signal)), summary, omitted: (record?.omitted ?? 0) + dropped };
}

/**
 * The record of messages that are dropped without a summary: the earlier record, with the wishes of the user and the names in the
 * dropped messages. `charsMax`: the maximum length of the wishes.
 */
export async function recordWithout(
  { middle, previous }: RecordInput,
  charsMax: number,
  signal?: AbortSignal,
): Promise<ConversationRecord> {
  const { record, rest } = takeRecord(middle, previous);
  return {
    ...(await recordOfNames({ record, rest }, signal)),
    summary: withWishes(record?.summary ?? "", rest, charsMax),
    omitted: (record?.omitted ?? 0) + rest.length,
  };
}

/**
 * The record if no summary can be obtained and no messages are kept beside it: the first user message, the other wishes of the
 * user and the latest messages are quoted in it.
 */
export async function latestOf(
  { middle, previous }: RecordInput,
  charsMax: number,
  signal?: AbortSignal,
): Promise<ConversationRecord> {
  const { record, rest } = takeRecord(middle, previous);
  const first = record === undefined ? rest[firstUserAt(rest) ?? -1] : undefined;
  const task = first === undefined ? "" : `## Task\n${cutMiddle(wordsOf(first), Math.floor(charsMax / 2))}`;
  const others = rest.filter((one) => one !== first);
  const parts = await partsFor(others, Math.floor(charsMax / 4));
  const { text, messages: quoted } = parts.at(-1) ?? { text: "", messages: 0 };
  const latest = text === "" ? "" : `## Latest messages (quoted, as no summary could be made)\n${text}`;
  const wishes = [record?.summary ?? "", task, latest].filter((part) => part !== "").join("\n\n");
  return {
    ...(await recordOfNames({ record, rest }, signal)),
    summary: withWishes(wishes, others, Math.floor(charsMax / 4)),
    omitted: (record?.omitted ?? 0) + Math.max(0, others.length - quoted),
  };
}

const WISHES = "## Wishes of the user (quoted, shortened)";
/** Maximum number of characters of one quoted wish. */
const WISH_CHARS = 400;

/** A summary followed by the user's messages, each shortened. If they are too long together, the newest are kept. */
function withWishes(summary: string, rest: readonly MeasuredElement[], charsMax: number): string {
  const [before = "", earlier = ""] = summary.split(`${WISHES}\n`);
  const lines = earlier.split("\n").filter((line) => line.startsWith("- "));
  const kept: string[] = [];
  let chars = 0;
  const isKept = (line: string) => {
    chars += line.length + 1;
    return chars <= charsMax && kept.push(line) > 0;
  };
  const isFull = rest.toReversed().some((message) => {
    if (message.entry.role !== "user" || message.entry.pieces.some(({ type }) => type === "result")) return false;
    const words = cutMiddle(wordsOf(message), WISH_CHARS).replace(/\s+/g, " ").trim();
    return words !== "" && !isKept(`- ${words}`);
  });
  if (!isFull) lines.toReversed().every(isKept);
  return kept.length === 0 ? before.trim() : `${before.trim()}\n\n${WISHES}\n${kept.reverse().join("\n")}`.trim();
}

/** The members of a record that no model makes. */
async function recordOfNames(
  { record, rest }: { record: ConversationRecord | undefined; rest: readonly MeasuredElement[] },
  signal: AbortSignal | undefined,
): Promise<Pick<ConversationRecord, "ledger" | "messages">> {
  const entries = rest.map(({ entry }) => entry);
  return {
    ledger: await enterAll(record?.ledger ?? emptyLedger(), entries, signal),
    messages: (record?.messages ?? 0) + rest.length,
  };
}

/** Separates records from the messages. The last record found replaces `previous`, so that the new one continues from it. */
function takeRecord(
  middle: RecordInput["middle"],
  previous: RecordInput["previous"],
): { record: ConversationRecord | undefined; rest: MeasuredElement[] } {
  let record = previous;
  const rest: MeasuredElement[] = [];
  for (const message of middle) {
    const found = recordOf(message.entry);
    if (found === undefined) {
      // System messages are kept unchanged beside the record.
      if (message.entry.role !== "system") rest.push(message);
    } else record = found;
  }
  return { record, rest };
}
