// An answer as the client has it, put together as what the client will hand back of it: elements of its list of messages. Read
// from the text that went out, whole or streamed, once it is complete.

import { parseFrames } from "../base/sse.ts";
import type { Element, EntryFormat } from "../chat/entries.ts";
import { parsedFields } from "./entry-pieces.ts";

/** The elements that an answer adds to the client's list; none where the text is no whole answer. */
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
