// Builds the shortened list: system messages and the first user message unchanged, the record instead of what it replaces,
// old tool results as placeholders, the tail. Order is kept, and the same cut of the same list gives the same text.

import { type Element, type EntryFormat, type ResultPiece, textOfEntry } from "../../chat/entries.ts";
import type { MeasuredElement } from "./measure.ts";
import { recordOf } from "./record.ts";

/** Where a list is cut. */
export interface Cut {
  /** Elements before it are in the record. */
  upTo: number;
  /** Tool results of elements before it are placeholders. */
  clearedTo: number;
  /** Elements before it were written after a different history: bound reasoning is dropped. */
  strippedTo: number;
}

/** A list in its short form. */
export interface ShortenedList {
  list: Element[];
  /** The calls that lost the reasoning behind them. */
  strippedCalls: Set<string>;
}

/** Smaller results are kept: a placeholder would save nothing. */
const CLEARED_CHARS_MIN = 200;

/** Index of the first message with text from a user; undefined if there is none. */
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

/**
 * The short form. `record`: the text that replaces what is left out. `firstUser`: the text of a first message that is cut.
 */
export function shapeList(
  list: readonly MeasuredElement[],
  format: EntryFormat,
  options: { cut: Cut; record: string | undefined; firstUser?: string | undefined },
): ShortenedList {
  const { cut, record } = options;
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
      out.push(options.firstUser === undefined ? element : format.withText(element, options.firstUser));
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
    out.push(at < cut.clearedTo ? cleared(kept, format, names) : kept);
  });
  place();
  return { list: out, strippedCalls };
}

/** The element with placeholders for its results. */
function cleared(element: Element, format: EntryFormat, names: ReadonlyMap<string, string>): Element {
  return format.withResults(element, (result) => {
    if (result.text.length < CLEARED_CHARS_MIN && result.media.length === 0) return undefined;
    return placeholder(result, names);
  });
}

/** The placeholder of a result: its tool and its size, so that the model can call the tool again. */
export function placeholder(result: ResultPiece, names: ReadonlyMap<string, string>): string {
  const media = result.media.length === 0 ? "" : `, ${result.media.length} image or file`;
  const tokens = Math.ceil(result.text.length / 4);
  return `[cleared: about ${tokens} tokens, tool ${names.get(result.id) || "unknown"}${media}]`;
}

/** Calls' ids to the names of their tools. */
export function callNames(list: readonly MeasuredElement[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { entry } of list) {
    for (const piece of entry.pieces) if (piece.type === "call") names.set(piece.id, piece.name);
  }
  return names;
}

/** A text cut to this many characters: its beginning and end, with a marker in between. */
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
