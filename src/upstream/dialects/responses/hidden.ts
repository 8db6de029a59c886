// Encrypted reasoning that is requested so that a stored answer can be continued, but that the client did not request.

import type { JsonEdit } from "../../../base/json-edit.ts";
import { asList, asRecord, type Loose } from "../loose.ts";

/** The entry of `include` that requests it. */
export const INCLUDE_ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** Whether the client's own `include` requests it. */
export function wantsEncrypted(include: unknown): boolean {
  return asList(include).includes(INCLUDE_ENCRYPTED_REASONING);
}

/** Whether an output item contains it. */
export function holdsEncrypted(item: Loose): boolean {
  return item["type"] === "reasoning" && "encrypted_content" in item;
}

/** The edits that remove it from a list of output items at a path. */
export function hidingEdits(output: unknown, path: readonly string[]): JsonEdit[] {
  return asList(output).flatMap((item, i) =>
    holdsEncrypted(asRecord(item)) ? [{ path: [...path, i, "encrypted_content"] }] : [],
  );
}
