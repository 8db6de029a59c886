// Finds the changes to the input of a relayed responses request: reasoning that this provider did not issue is removed, the
// gateway's envelopes are replaced by their content, and ids that the gateway created are dropped.

import type { JsonEdit } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import { canRead, type SealReader } from "../../chat/seals.ts";
import type { Fields } from "../check.ts";
import type { OpenedSeals } from "../format.ts";
import { uncarry } from "../seal-envelopes.ts";
import { responseOfItem } from "./references.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** Types of answer items that may be sent without their provider's id. */
const NAMELESS: ReadonlySet<unknown> = new Set(["message", "function_call", "custom_tool_call"]);

/** Opens the seals of the input's items. */
export function openResponses(body: Fields, reader: SealReader): OpenedSeals {
  const edits: JsonEdit[] = [];
  let removed = false;
  let lost = false;
  // If reasoning was removed, the id of the item after it would make the provider look for both.
  let orphaned = false;
  const input: readonly unknown[] = Array.isArray(body["input"]) ? body["input"] : [];
  input.forEach((item, i) => {
    if (!isRecord(item)) return;
    const path = ["input", i];
    if (item["type"] === "reasoning") {
      const opened = openReasoning(item, reader);
      if (opened !== item) edits.push({ path, value: opened });
      orphaned = opened === undefined;
      if (orphaned) removed = true;
      if (orphaned && isPlain(item)) lost = true;
      return;
    }
    if (item["role"] === "user" || String(item["type"]).endsWith("_output")) orphaned = false;
    const { id } = item;
    if (typeof id !== "string" || item["type"] === "item_reference") return;
    const ours = responseOfItem(id) !== undefined;
    if (ours || (orphaned && NAMELESS.has(item["type"] ?? "message"))) edits.push({ path: [...path, "id"] });
  });
  return { edits, removed, lost };
}

/** The item for the provider; undefined if it must not be sent. */
function openReasoning(item: Fields, reader: SealReader): Fields | undefined {
  const { encrypted_content: encrypted, id } = item;
  if (typeof encrypted !== "string" || encrypted === "") {
    // An item without its content must have been stored by the provider, which is only known of the provider's own answers.
    const isStored = typeof id === "string" && reader.minterOf(id) === reader.minter;
    const isTaken = isStored || (reader.plain === true && isPlain(item));
    return isTaken && reader.refused !== true ? item : undefined;
  }
  const carried = uncarry(encrypted);
  if (carried === undefined) return canRead({ origin: RESPONSES_ORIGIN, value: encrypted }, reader) ? item : undefined;
  if (carried.callId !== undefined || carried.encrypted === undefined) return undefined;
  if (!canRead({ ...carried, value: carried.encrypted }, reader)) return undefined;
  const { id: given, ...rest } = item;
  const own = carried.itemId ?? (typeof given === "string" && responseOfItem(given) === undefined ? given : undefined);
  return { ...rest, ...(own === undefined ? {} : { id: own }), encrypted_content: carried.encrypted };
}

/** Whether an item has its text, and no sealed content. */
function isPlain({ encrypted_content: encrypted, content, summary }: Fields): boolean {
  if (typeof encrypted === "string" && encrypted !== "") return false;
  return [content, summary].some((texts) => Array.isArray(texts) && texts.length > 0);
}
