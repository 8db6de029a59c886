// Sealed values of some servers of this protocol: OpenRouter's `reasoning_details` in an answer, and the thought signature that
// Google's servers put on a tool call.

import { isRecord } from "../../../base/json-object.ts";
import type { RelayIdentity } from "../../dialect.ts";

type Json = Readonly<Record<string, unknown>>;

/** Maximum number of entries of one answer. */
const DETAILS_MAX = 1024;

/** Reads `extra_content.google.thought_signature` of a tool call. */
export function googleSignature(call: Json): string | undefined {
  const extra = call["extra_content"];
  const google = isRecord(extra) ? extra["google"] : undefined;
  const signature = isRecord(google) ? google["thought_signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/** The member of a tool call that contains its signature. */
export function googleContent(signature: string): Json {
  return { extra_content: { google: { thought_signature: signature } } };
}

/** Adds the entries of a delta. Streamed texts with the same index are one entry (openrouter.ai/docs, reasoning tokens). */
export function addDetails(details: Record<string, unknown>[], more: unknown): void {
  if (!Array.isArray(more)) return;
  for (const entry of more as unknown[]) {
    if (!isRecord(entry)) continue;
    const last = details.at(-1);
    const goes = last !== undefined && last["type"] === entry["type"] && last["index"] === entry["index"];
    // A signature covers the text before it, so no text may be added to a signed entry.
    const isSigned = Boolean(last?.["signature"]) && Boolean(entry["text"]);
    if (last === undefined || !goes || isSigned || entry["type"] === "reasoning.encrypted") {
      if (details.length < DETAILS_MAX) details.push({ ...entry });
      continue;
    }
    for (const [name, value] of Object.entries(entry)) {
      const joins = (name === "text" || name === "summary") && typeof last[name] === "string";
      last[name] = joins ? `${String(last[name])}${typeof value === "string" ? value : ""}` : (value ?? last[name]);
    }
  }
}

/** The text of a delta's entries, if the server sends no plain text beside them. */
export function detailsText(details: unknown): string {
  if (!Array.isArray(details)) return "";
  const texts = details.map((entry) => (isRecord(entry) ? (entry["text"] ?? entry["summary"]) : undefined));
  return texts.filter((text) => typeof text === "string").join("");
}

/** Reports the seals, reasoning and calls in a relayed message or delta. */
export function noteSeals(message: Json, identity: RelayIdentity): void {
  const { listener } = identity;
  const thought = message["reasoning_content"] ?? message["reasoning"];
  if (typeof thought === "string" && thought !== "") listener?.thought(thought);
  const details: unknown = message["reasoning_details"];
  if (Array.isArray(details)) {
    for (const entry of details.filter(isRecord)) {
      for (const value of [entry["signature"], entry["data"]])
        if (typeof value === "string" && value) identity.sealed?.(value);
    }
  }
  const calls: unknown = message["tool_calls"];
  if (!Array.isArray(calls)) return;
  for (const call of calls.filter(isRecord)) {
    const signature = googleSignature(call);
    if (signature !== undefined) identity.sealed?.(signature);
    if (typeof call["id"] === "string" && call["id"] !== "") listener?.called(call["id"]);
  }
}
