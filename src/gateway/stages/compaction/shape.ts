// Builds the shortened list: the system messages and the first user message, the record in place of what it replaces, then the
// tail, with placeholders for old tool results. The order is kept, and the same cut of the same list always gives the same text.

import { type Element, type EntryFormat, type ResultPiece, textOfEntry } from "../../../chat/entries.ts";
import type { MeasuredElement } from "./measure.ts";
import { recordOf } from "./record.ts";

/** Where a list is cut. */
export interface Cut {
  /** Index up to which elements are replaced by the record. */
  upTo: number;
  /** Index up to which tool results are replaced by placeholders. */
  clearedTo: number;
  /**
   * Index up to which assistant messages were generated from a different history. Their reasoning, which is bound to that
   * history, is removed.
   */
  strippedTo: number;
  /** The text that replaces the elements left out; undefined if none are. */
  record: string | undefined;
  /** Maximum number of characters of the first user message; undefined if it is kept whole. */
  firstUserChars?: number | undefined;
  /** Results before this index are cut to this many characters. */
  clip?: { chars: number; to: number } | undefined;
}

/** A shortened list of messages. */
export interface ShortenedList {
  list: Element[];
  /** Ids of the tool calls whose reasoning was removed. */
  strippedCalls: Set<string>;
}

/** Smaller results are kept, as a placeholder would save nothing. */
const CLEARED_CHARS_MIN = 200;

/** Index of the first user message with text; undefined if there is none. */
export function firstUserAt(list: readonly MeasuredElement[]): number | undefined {
  const at = list.findIndex(
    ({ entry }) =>
      entry.role === "user" &&
      entry.pieces.some((piece) => piece.type === "text") &&
      !entry.pieces.some((piece) => piece.type === "result") &&
      recordOf(entry) === undefined,
  );
  return at < 0 ? undefined : at;
}

/** Builds the shortened list. */
export function shapeList(list: readonly MeasuredElement[], format: EntryFormat, cut: Cut): ShortenedList {
  const { record, clip } = cut;
  const first = firstUserAt(list);
  const names = callNames(list);
  const out: Element[] = [];
  const strippedCalls = new Set<string>();
  let placed = record === undefined;
  const place = () => {
    if (!placed && record !== undefined) out.push(format.userMessage(record));
    placed = true;
  };
  list.forEach(({ element, entry }, at) => {
    if (at === first) {
      const { firstUserChars: chars } = cut;
      out.push(chars === undefined ? element : format.withText(element, cutMiddle(textOfEntry(entry), chars)));
      if (at < cut.upTo) place();
      return;
    }
    if (entry.role === "system") {
      out.push(element);
      return;
    }
    if (at < cut.upTo) return;
    place();
    let kept: Element | undefined = element;
    if (at < cut.strippedTo && entry.role === "assistant") {
      for (const piece of entry.pieces) if (piece.type === "call") strippedCalls.add(piece.id);
      kept = format.withoutReasoning(kept);
      if (kept === undefined) return;
    }
    if (at < cut.clearedTo) out.push(cleared(kept, format, names));
    else out.push(clip !== undefined && at < clip.to ? clipped(kept, format, clip.chars) : kept);
  });
  place();
  return { list: out, strippedCalls };
}

/** The element with placeholders in place of its results. */
function cleared(element: Element, format: EntryFormat, names: ReadonlyMap<string, string>): Element {
  return format.withResults(element, (result) => {
    if (result.text.length < CLEARED_CHARS_MIN && result.media.length === 0) return undefined;
    return placeholder(result, names);
  });
}

/** The element with long results cut in their middle. */
function clipped(element: Element, format: EntryFormat, chars: number): Element {
  return format.withResults(element, ({ text }) => (text.length > chars ? cutMiddle(text, chars) : undefined));
}

/** The placeholder of a result. It names the tool and the size, so that the model can call the tool again. */
export function placeholder(result: ResultPiece, names: ReadonlyMap<string, string>): string {
  const media = result.media.length === 0 ? "" : `, ${result.media.length} image or file`;
  const tokens = Math.ceil(result.text.length / 4);
  return `[cleared: about ${tokens} tokens, tool ${names.get(result.id) || "unknown"}${media}]`;
}

/** The names of the tools, by the ids of their calls. */
export function callNames(list: readonly MeasuredElement[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { entry } of list) {
    for (const piece of entry.pieces) if (piece.type === "call") names.set(piece.id, piece.name);
  }
  return names;
}

/** Cuts a text to this many characters: its beginning and its end remain, with a marker in between. */
export function cutMiddle(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const marker = `\n[… ${text.length - chars} characters were left out …]\n`;
  const half = Math.max(0, Math.floor((chars - marker.length) / 2));
  return (text.slice(0, half) + marker + text.slice(text.length - half)).toWellFormed();
}

/** The text of a message that may be cut. */
export function wordsOf({ entry }: MeasuredElement): string {
  return textOfEntry(entry);
}
