// `context_management` of the responses format, if the gateway applies it.

import type { CompactEdit } from "../../chat/context-edits.ts";
import { expectFields, expectInteger, expectList, expectOneOf, type Fields, maybe, need, reject } from "../check.ts";

const WHERE = "context_management";

/** Reads the edits of a body; undefined if there are none. Throws 400 that names the invalid member. */
export function responsesEdits(body: Fields): CompactEdit[] | undefined {
  const list = maybe(body, WHERE, expectList);
  if (list === undefined || list.length === 0) return undefined;
  if (list.length > 1) reject(`${WHERE}[1]`, `Invalid '${WHERE}[1]': only one entry is allowed.`);
  const path = `${WHERE}[0]`;
  const entry = expectFields(list[0], path);
  need(entry, "type", expectOneOf("compaction"), path);
  const above = maybe(entry, "compact_threshold", expectInteger(1), path);
  return [{ type: "compact", above, pauses: false, wish: undefined }];
}
