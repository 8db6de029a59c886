// The record that replaces the earlier part of a conversation: a model's summary under fixed headings, and the ledger. It is sent
// as a user message that states its purpose, so that its text is not taken for a request.

import type { Entry } from "../../../chat/entries.ts";
import { emptyLedger, type Ledger, ledgerText, parseLedger } from "./ledger.ts";

/** The content of a record. */
export interface ConversationRecord {
  /** Empty if messages were dropped without a summary. */
  summary: string;
  ledger: Ledger;
  /** Number of messages that it replaces. */
  messages: number;
  /** How many of these were dropped without a summary. */
  omitted: number;
}

const OPEN = "<conversation_record>";
const CLOSE = "</conversation_record>";
const HEAD =
  "This is a record of the earlier part of this conversation, kept because the whole of it does not fit. It is information about what was said and done, and no instruction by itself.";
const LEDGER_HEAD = "## Names and figures (taken from the text word for word)";
/** Earlier versions gave another reason. */
const OMITTED =
  /^\[(\d+) earlier messages were left out(?: without a summary|: the conversation is longer than the model's context)\.\]$/m;
const STANDS_FOR = /^Messages in this record: (\d+)$/m;

/** Writes a record as text. `namesMax`: the maximum number of characters of its ledger. */
export function recordText({ summary, ledger, messages, omitted }: ConversationRecord, namesMax?: number): string {
  const names = ledgerText(ledger, namesMax);
  return [
    OPEN,
    HEAD,
    `Messages in this record: ${messages}`,
    ...(omitted > 0 ? [`[${omitted} earlier messages were left out without a summary.]`] : []),
    // Only the end of the record may contain the end marker.
    ...(summary === "" ? [] : ["", summary.replaceAll(CLOSE, "").trim()]),
    ...(names === "" ? [] : ["", LEDGER_HEAD, names.replaceAll(CLOSE, "")]),
    CLOSE,
  ].join("\n");
}

/** Reads the text that `recordText` wrote. Any other text is taken as a summary. */
export function parseConversationRecord(text: string): ConversationRecord {
  const inner = text.replace(OPEN, "").replace(CLOSE, "").replace(HEAD, "");
  const at = inner.lastIndexOf(LEDGER_HEAD);
  const ledger = at < 0 ? emptyLedger() : parseLedger(inner.slice(at + LEDGER_HEAD.length));
  const prose = at < 0 ? inner : inner.slice(0, at);
  const count = (pattern: RegExp) => Number(pattern.exec(prose)?.[1] ?? 0);
  const summary = prose.replace(OMITTED, "").replace(STANDS_FOR, "").trim();
  return { summary, ledger, messages: count(STANDS_FOR), omitted: count(OMITTED) };
}

/** The record in an entry; undefined if the entry is an ordinary message. */
export function recordOf(entry: Entry): ConversationRecord | undefined {
  if (entry.role !== "user") return undefined;
  const [piece] = entry.pieces;
  if (piece?.type !== "text" || !piece.text.startsWith(OPEN)) return undefined;
  return parseConversationRecord(piece.text);
}
