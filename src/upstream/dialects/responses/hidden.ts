// Encrypted reasoning that the gateway requests so that a stored answer can be continued, although the client did not request it.

import type { JsonEdit } from "../../../base/json-edit.ts";
import { asList, asRecord, type Loose } from "../loose.ts";

/** The entry of `include` that requests encrypted reasoning. */
export const INCLUDE_ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** Whether the client's own `include` requests it. */
export function wantsEncrypted(include: unknown): boolean {
  return asList(include).includes(INCLUDE_ENCRYPTED_REASONING);
}

/** Whether an output item contains encrypted reasoning. */
export function holdsEncrypted(item: Loose): boolean {
  return item["type"] === "reasoning" && "encrypted_content" in item;
}

/** The edits that remove encrypted reasoning from a list of output items at a path. */
export function hidingEdits(output: unknown, path: readonly string[]): JsonEdit[] {
  return asList(output).flatMap((item, i) =>
    holdsEncrypted(asRecord(item)) ? [{ path: [...path, i, "encrypted_content"] }] : [],
  );
}
