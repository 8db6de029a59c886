// Seals in chat completions, a protocol without a field for them. A block of reasoning becomes an entry of OpenRouter's
// `reasoning_details`, and a tool call's signature is written where Google's servers of this protocol write it. Clients return
// both without reading them.

import { entryOf, isRecord } from "../../base/json-object.ts";
import type { AssistantContent } from "../../chat/request.ts";
import type { Fields } from "../check.ts";
import {
  type CarriedPart,
  callSeal,
  carry,
  fromCarried,
  type Seals,
  type Source,
  sealed,
  sealedCall,
  uncarry,
} from "../seal-envelopes.ts";

/** The protocol's name in `origin`. */
export const CHAT_ORIGIN = "openai-chat";

/** OpenRouter's names for the protocols that issue reasoning. */
const FORMATS: Readonly<Record<string, string>> = {
  "anthropic-messages": "anthropic-claude-v1",
  "openai-responses": "openai-responses-v1",
  gemini: "google-gemini-v1",
};

/** A finished block of reasoning, for which an entry is written. */
export interface Detail {
  seals: Seals;
  source: Source | undefined;
  text: string;
  /** Whether the text is a summary. */
  summary: boolean;
  index: number;
}

/** The entry in a whole answer; undefined for reasoning without a seal, which is only returned as text. */
export function detailOf(detail: Detail): Fields | undefined {
  return sealedDetail(detail, detail.text, {});
}

/** The entry at the end of a streamed block. Its text was already sent, so it is kept in the envelope and not repeated. */
export function lastDetailOf(detail: Detail): Fields | undefined {
  return sealedDetail(detail, "", detail.text === "" ? {} : { text: detail.text });
}

function sealedDetail({ seals, source, text, summary, index }: Detail, shown: string, kept: { text?: string }) {
  const { signature, redacted, encrypted, details, origin = "" } = seals;
  if (signature === undefined && redacted === undefined && encrypted === undefined && details === undefined)
    return undefined;
  const envelope = sealed(seals, { summary, text: text !== "", source });
  // Without a known issuer, the value could never be sent back to anyone.
  if (source === undefined || envelope === undefined) return undefined;
  const value = carry({ ...envelope, ...kept });
  const format = entryOf(FORMATS, origin) ?? "unknown";
  // An entry without text is shown as hidden reasoning.
  if (text === "") return { type: "reasoning.encrypted", data: value, format, index };
  return { type: "reasoning.text", text: shown, signature: value, format, index };
}

/** The member of a tool call with its signature; empty if it has none. */
export function extraContentOf(
  call: { callId: string; signature?: string; origin?: string },
  source: Source | undefined,
): Fields {
  const signature = source === undefined ? undefined : sealedCall(call, source);
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** Reads `extra_content.google.thought_signature` of a tool call. */
export function signatureOfCall(call: unknown): string | undefined {
  const extra = isRecord(call) ? call["extra_content"] : undefined;
  const google = isRecord(extra) ? extra["google"] : undefined;
  const signature = isRecord(google) ? google["thought_signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/** Reads a tool call's signature as the client returned it. A signature without an envelope may be from any Gemini provider. */
export function readCallSeal(call: Fields): ReturnType<typeof callSeal> {
  const signature = signatureOfCall(call);
  if (signature === undefined) return {};
  const carried = uncarry(signature);
  return carried === undefined ? { signature } : callSeal(fromCarried("", carried));
}

/** Opens the gateway's envelope in an entry of `reasoning_details`. */
export function envelopeOf(detail: Fields): ReturnType<typeof uncarry> {
  const value = typeof detail["signature"] === "string" ? detail["signature"] : detail["data"];
  return typeof value === "string" ? uncarry(value) : undefined;
}

/** The reasoning that the client returned with a turn: the sealed entries, or the plain text if there are none. */
export function readReasoning(fields: Fields): AssistantContent[] {
  const given = fields["reasoning_content"] ?? fields["reasoning"];
  const plain = typeof given === "string" ? given : "";
  const details: readonly unknown[] = Array.isArray(fields["reasoning_details"]) ? fields["reasoning_details"] : [];
  const parts: CarriedPart[] = [];
  const raw: Fields[] = [];
  for (const detail of details.filter(isRecord)) {
    const carried = envelopeOf(detail);
    if (carried === undefined) raw.push(detail);
    else parts.push(fromCarried(textOf(detail), carried));
  }
  if (raw.length > 0) {
    parts.push({ type: "reasoning", text: raw.map(textOf).join("") || plain, details: raw, origin: CHAT_ORIGIN });
  }
  if (parts.length > 0) return parts;
  return plain === "" ? [] : [{ type: "reasoning", text: plain, origin: CHAT_ORIGIN }];
}

function textOf(detail: Fields): string {
  const text = detail["text"] ?? detail["summary"];
  return typeof text === "string" ? text : "";
}
