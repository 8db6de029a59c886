// Finds the changes to the history of a relayed messages request: thinking that this provider did not issue is removed, and the
// gateway's envelopes are replaced by their content. The provider's own blocks stay unchanged.

import type { JsonEdit } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import { canRead, type SealReader } from "../../chat/seals.ts";
import type { Fields } from "../check.ts";
import type { OpenedSeals } from "../format.ts";
import { uncarry } from "../seal-envelopes.ts";
import { MESSAGES_ORIGIN } from "./blocks.ts";

/** The block that may be sent to the provider; undefined if none may. */
type Opened = Fields | undefined;

/** Opens the seals in the assistant's turns. */
export function openMessages(body: Fields, reader: SealReader): OpenedSeals {
  const edits: JsonEdit[] = [];
  let removed = false;
  const messages: readonly unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  messages.forEach((message, i) => {
    if (!isRecord(message) || message["role"] !== "assistant" || !Array.isArray(message["content"])) return;
    const blocks: readonly unknown[] = message["content"];
    const changes: JsonEdit[] = [];
    let gone = 0;
    blocks.forEach((block, j) => {
      if (!isRecord(block)) return;
      const opened = openBlock(block, reader);
      if (opened === block) return;
      if (opened === undefined) gone++;
      changes.push({ path: ["messages", i, "content", j], value: opened });
    });
    if (gone > 0) removed = true;
    // A turn without content would be refused, so the whole turn is removed.
    if (gone > 0 && gone === blocks.length) edits.push({ path: ["messages", i] });
    else edits.push(...changes);
  });
  return { edits, removed };
}

function openBlock(block: Fields, reader: SealReader): Opened {
  if (block["type"] === "thinking") return openThinking(block, reader);
  if (block["type"] !== "redacted_thinking" || typeof block["data"] !== "string") return block;
  const carried = uncarry(block["data"]);
  if (carried === undefined)
    return canRead({ origin: MESSAGES_ORIGIN, value: block["data"] }, reader) ? block : undefined;
  const data = carried.redacted;
  if (data === undefined || !canRead({ ...carried, value: data }, reader)) return undefined;
  return { ...block, data };
}

function openThinking(block: Fields, reader: SealReader): Opened {
  const signature = typeof block["signature"] === "string" ? block["signature"] : "";
  if (signature === "") return reader.unsigned ? block : undefined;
  const carried = uncarry(signature);
  if (carried === undefined) {
    return canRead({ origin: MESSAGES_ORIGIN, value: signature }, reader) ? block : unsigned(block, reader);
  }
  // This is the signature of a tool call, for which the protocol has no field.
  if (carried.callId !== undefined) return undefined;
  const value = carried.signature ?? carried.redacted;
  if (value === undefined || !canRead({ ...carried, value }, reader)) return unsigned(block, reader);
  if (carried.signature === undefined) return { type: "redacted_thinking", data: carried.redacted };
  return { ...block, signature: carried.signature };
}

/** Thinking without its seal, for providers that do not seal any themselves; the vendor's own servers refuse it. */
function unsigned(block: Fields, reader: SealReader): Opened {
  return reader.unsigned && block["thinking"] !== "" ? { ...block, signature: "" } : undefined;
}
