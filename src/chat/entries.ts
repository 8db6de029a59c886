// A request's list of messages as compaction sees it: one entry for each element of the client's own list, in words of no
// format. Entries are read from a list and never written back; the format's own functions change the elements.

import type { ContextEdit } from "./context-edits.ts";

/** What an element holds, as far as it counts. */
export type Piece =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | CallPiece
  | ResultPiece
  /** An image, a document, a sound: `label` names it. */
  | { type: "media"; label: string }
  /** The record of an earlier compaction: its text, or a value that only its maker can open. */
  | ({ type: "compaction" } & CarriedRecord);

/** A record as a client carries it: readable, or sealed. */
export interface CarriedRecord {
  text: string | undefined;
  sealed: string | undefined;
}

/** What is in a record: a text that stands for what was said, or all that is to be sent in its place. */
export type OpenedRecord = { text: string } | { list: readonly Element[] };

/** A call of a tool; `text` is what it was given. */
export interface CallPiece {
  type: "call";
  id: string;
  name: string;
  text: string;
}

/** What a tool gave back. */
export interface ResultPiece {
  type: "result";
  id: string;
  text: string;
  /** Images and documents in it. */
  media: readonly string[];
}

/** One element. `tool`: it holds nothing but results. */
export interface Entry {
  role: "system" | "user" | "assistant" | "tool";
  pieces: readonly Piece[];
}

/** A parsed JSON object of the client's. */
export type Element = Readonly<Record<string, unknown>>;

/** How one client format writes its list of messages. */
export interface EntryFormat {
  /** The top-level member that holds the list. */
  member: "messages" | "input";
  /** The elements of a body. */
  list(body: Element): readonly Element[];
  /** Texts that go with every request beside the list: instructions and tools. */
  fixed(body: Element): string;
  /** Reads an element. */
  entry(element: Element): Entry;
  /** The element with other words in place of its results; `say` gives undefined for results that stay. */
  withResults(element: Element, say: (result: ResultPiece) => string | undefined): Element;
  /** The element without reasoning that is bound to its history; undefined when nothing is left, the same when it has none. */
  withoutReasoning(element: Element): Element | undefined;
  /** The element with its texts replaced by one. */
  withText(element: Element, text: string): Element;
  /** A user's message. */
  userMessage(text: string): Element;
  /**
   * The list with the newest record that the client carries in place of what it stands for. `open` says what is in it,
   * undefined where the list is to stay. The same list where there is none.
   */
  expand(
    list: readonly Element[],
    open: (record: CarriedRecord, param: string) => OpenedRecord | undefined,
  ): readonly Element[];
  /** Whether a body asks for a record in place of an answer; with what the record is to say besides. Throws 400. */
  asksRecord(body: Element): { wish: string | undefined } | undefined;
  /** A body that asks for a record, as the conversation that it is of. */
  withoutAsking(body: Element): Element;
  /** The part of an answer that carries a record. */
  record(record: { id: string; text: string; sealed: string }): Element;
  /** How its clients ask for their lists to be edited; absent in formats that have no such parameter. */
  editing?: Editing;
  /** What a whole answer adds to the list when the client hands it back. */
  answer(body: Element): Element[];
  /** The same of a streamed answer's events. */
  streamed(events: readonly Element[]): Element[];
}

/** How a format's clients ask for their lists to be edited before they go up. */
export interface Editing {
  /** The top-level member that says so. */
  member: string;
  /** What a body asks for; undefined where that is nothing. Throws 400. */
  edits(body: Element): readonly ContextEdit[] | undefined;
  /** The part of an answer that says that no record could be made; absent in formats that do not say it. */
  failedRecord?: Element;
  /** The element without any reasoning; undefined when nothing is left, the same when it has none. */
  withoutThoughts?(element: Element): Element | undefined;
  /** The element without what its calls were given, as far as `clears` says so. */
  withoutInputs?(element: Element, clears: (call: CallPiece) => boolean): Element;
}

/** All that is said in an entry, without reasoning and media. */
export function textOfEntry(entry: Entry): string {
  const texts: string[] = [];
  for (const piece of entry.pieces) {
    if (piece.type === "text" || piece.type === "result") texts.push(piece.text);
    else if (piece.type === "call") texts.push(piece.name, piece.text);
    else if (piece.type === "compaction") texts.push(piece.text ?? "");
  }
  return texts.join("\n");
}
