// Finds the changes to the history of a relayed chat completions request: reasoning that this provider did not issue or does not
// accept is removed, and the gateway's envelopes are replaced by their content. A provider's own values stay unchanged.

import type { JsonEdit } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import { canRead, type HistoryReader, valueOfDetails } from "../../chat/seals.ts";
import type { Fields } from "../check.ts";
import type { OpenedSeals } from "../format.ts";
import { uncarry } from "../seal-envelopes.ts";
import { CHAT_ORIGIN, envelopeOf, signatureOfCall } from "./details.ts";

/** The members of an assistant turn that contain reasoning. */
const MEMBERS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

/** Opens the seals in the assistant's turns. */
export function openChat(body: Fields, reader: HistoryReader): OpenedSeals {
  const found: OpenedSeals = { edits: [], removed: false };
  const messages: readonly unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  messages.forEach((message, i) => {
    if (!isRecord(message) || message["role"] !== "assistant") return;
    const before = found.edits.length;
    openCalls(message, ["messages", i], reader, found.edits);
    if (reader.refusesReasoning) {
      for (const name of MEMBERS) if (Object.hasOwn(message, name)) found.edits.push({ path: ["messages", i, name] });
    } else openReasoning(message, ["messages", i], reader, found.edits);
    if (found.edits.slice(before).some((edit) => edit.value === undefined)) found.removed = true;
  });
  return found;
}

type Path = readonly (string | number)[];

function openReasoning(message: Fields, path: Path, reader: HistoryReader, edits: JsonEdit[]): void {
  const { reasoning_content: content, reasoning, reasoning_details: details } = message;
  // The gateway writes the text under both names, but some servers refuse the one and some the other.
  if (typeof content === "string" && content === reasoning) edits.push({ path: [...path, "reasoning"] });
  if (Array.isArray(details)) {
    const opened = openDetails(details, reader);
    if (opened !== details) edits.push({ path: [...path, "reasoning_details"], value: opened });
  }
  if (!reader.needsReasoning || (typeof content === "string" && content !== "")) return;
  const text = typeof reasoning === "string" && reasoning !== "" ? reasoning : textBehind(message, reader);
  if (text === undefined) return;
  edits.push({ path: [...path, "reasoning_content"], value: text });
  if (reasoning !== undefined) edits.push({ path: [...path, "reasoning"] });
}

/** The reasoning behind a turn's calls if the client did not return it, or returned it only in an envelope. */
function textBehind(message: Fields, reader: HistoryReader): string | undefined {
  const calls: readonly unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  for (const call of calls) {
    const thought = isRecord(call) && typeof call["id"] === "string" ? reader.thoughtOf(call["id"]) : undefined;
    const text = thought?.parts.map((part) => part.text || (part.summary ?? []).join("\n")).join("");
    if (text) return text;
  }
  return undefined;
}

/** The details that may be sent to the provider; undefined if none is left. */
function openDetails(details: readonly unknown[], reader: HistoryReader): readonly unknown[] | undefined {
  const envelopes = details.map((detail) => (isRecord(detail) ? envelopeOf(detail) : undefined));
  if (envelopes.every((one) => one === undefined)) {
    return canRead({ origin: CHAT_ORIGIN, value: valueOfDetails(details) }, reader) ? details : undefined;
  }
  const own = envelopes.flatMap((one) => {
    if (one?.details === undefined) return [];
    return canRead({ ...one, value: valueOfDetails(one.details) }, reader) ? one.details : [];
  });
  return own.length > 0 ? own : undefined;
}

/** Moves the signatures of calls to where Google's own servers of this protocol expect them. */
function openCalls(message: Fields, path: Path, reader: HistoryReader, edits: JsonEdit[]): void {
  const calls: readonly unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  calls.forEach((call, i) => {
    const signature = signatureOfCall(call);
    if (signature === undefined) return;
    const carried = uncarry(signature);
    const where = [...path, "tool_calls", i, "extra_content"];
    const seal =
      carried === undefined ? { origin: CHAT_ORIGIN, value: signature } : { ...carried, value: carried.signature };
    const { value } = seal;
    if (value === undefined || reader.refusesReasoning || !canRead({ ...seal, value }, reader)) {
      edits.push({ path: where });
    } else if (carried !== undefined) edits.push({ path: [...where, "google", "thought_signature"], value });
  });
}
