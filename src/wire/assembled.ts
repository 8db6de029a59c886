// Reads an answer in the form in which the client will return it: as elements of its list of messages. The text that was sent,
// whole or streamed, is parsed once it is complete.

import { parseFrames } from "../base/sse.ts";
import type { Element, EntryFormat } from "../chat/entries.ts";
import { parsedFields } from "./entry-pieces.ts";

/** The elements that an answer adds to the client's list; none if the text is not a complete answer. */
export function answerElements(format: EntryFormat, text: string): Element[] {
  const trimmed = text.trimStart();
  if (trimmed.startsWith("{")) {
    const body = parsedFields(trimmed);
    return body === undefined ? [] : format.answer(body);
  }
  const events = parseFrames(text).flatMap(({ data }): Element[] => {
    const event = parsedFields(data);
    return event === undefined ? [] : [event];
  });
  return format.streamed(events);
}
