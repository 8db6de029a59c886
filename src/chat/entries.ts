// A request's list of messages as compaction sees it: one entry for each element of the client's own list, independent of the
// format. Entries are read from a list and never written back; the format's own functions change the elements.

import type { ContextEdit } from "./context-edits.ts";

/** The relevant content of an element. */
export type Piece =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | CallPiece
  | ResultPiece
  /** An image, a document or audio: `label` names it. */
  | { type: "media"; label: string }
  /** The record of an earlier compaction: its text, or a value that only its issuer can open. */
  | ({ type: "compaction" } & CarriedRecord);

/** A record as a client carries it: readable, or sealed. */
export interface CarriedRecord {
  text: string | undefined;
  sealed: string | undefined;
}

/** The content of a record: a text that replaces the earlier conversation, or everything to send instead of it. */
export type OpenedRecord = { text: string } | { list: readonly Element[] };

/** A tool call; `text` is its arguments. */
export interface CallPiece {
  type: "call";
  id: string;
  name: string;
  text: string;
}

/** A tool result. */
export interface ResultPiece {
  type: "result";
  id: string;
  text: string;
  /** Images and documents in it. */
  media: readonly string[];
}

/** One element. `tool`: it only has results. */
export interface Entry {
  role: "system" | "user" | "assistant" | "tool";
  pieces: readonly Piece[];
}

/** A parsed JSON object of the client's. */
export type Element = Readonly<Record<string, unknown>>;

/** How one client format represents its list of messages. */
export interface EntryFormat {
  /** The top-level member with the list. */
  member: "messages" | "input" | "contents";
  /** The elements of a body. */
  list(body: Element): readonly Element[];
  /** Texts sent with every request besides the list: instructions and tools. */
  fixed(body: Element): string;
  /** Reads an element. */
  entry(element: Element): Entry;
  /** The element with other texts for its results; `say` returns undefined for results to keep. */
  withResults(element: Element, say: (result: ResultPiece) => string | undefined): Element;
  /** The element without reasoning that is bound to its history; undefined if nothing is left, unchanged if it has none. */
  withoutReasoning(element: Element): Element | undefined;
  /** The element with its texts replaced by one. */
  withText(element: Element, text: string): Element;
  /** A user's message. */
  userMessage(text: string): Element;
  /**
   * The list with the newest record that the client carries instead of what it replaces. `open` returns its content,
   * undefined if the list is to stay unchanged. The same list if there is none.
   */
  expand(
    list: readonly Element[],
    open: (record: CarriedRecord, param: string) => OpenedRecord | undefined,
  ): readonly Element[];
  /** Whether a body requests a record instead of an answer; with further instructions for it. Throws 400. */
  asksRecord(body: Element): { wish: string | undefined } | undefined;
  /** A body that requests a record, as a request of its conversation. */
  withoutAsking(body: Element): Element;
  /** The part of an answer that carries a record. */
  record(record: { id: string; text: string; sealed: string }): Element;
  /** How its clients request edits; absent in formats without such a parameter. */
  editing?: Editing;
  /** What a whole answer adds to the list when the client returns it. */
  answer(body: Element): Element[];
  /** The same of a streamed answer's events. */
  streamed(events: readonly Element[]): Element[];
}

/** How a format's clients request edits of their lists. */
export interface Editing {
  /** The top-level member for it. */
  member: string;
  /** The edits of a body; undefined if there are none. Throws 400. */
  edits(body: Element): readonly ContextEdit[] | undefined;
  /** The part of an answer that reports a failed record; absent in formats without one. */
  failedRecord?: Element;
  /** The element without any reasoning; undefined if nothing is left, unchanged if it has none. */
  withoutThoughts?(element: Element): Element | undefined;
  /** The element without the arguments of its calls, for the tools in `clears`. */
  withoutInputs?(element: Element, clears: (call: CallPiece) => boolean): Element;
}

/** The text of an entry, without reasoning and media. */
export function textOfEntry(entry: Entry): string {
  const texts: string[] = [];
  for (const piece of entry.pieces) {
    if (piece.type === "text" || piece.type === "result") texts.push(piece.text);
    else if (piece.type === "call") texts.push(piece.name, piece.text);
    else if (piece.type === "compaction") texts.push(piece.text ?? "");
  }
  return texts.join("\n");
}
