// Seals in chat completions, which has no field for them: a block of reasoning becomes an entry of OpenRouter's
// `reasoning_details`, and a tool call's signature is put where Google's servers of this protocol put it. Clients return both
// unread.

import type { AssistantContent } from "../../chat/request.ts";
import { type Fields, isFields } from "../check.ts";
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

/** OpenRouter's names for the issuers of reasoning. */
const FORMATS: Readonly<Record<string, string>> = {
  "anthropic-messages": "anthropic-claude-v1",
  "openai-responses": "openai-responses-v1",
  gemini: "google-gemini-v1",
};

/** The entry for a finished block of reasoning. */
export interface Detail {
  seals: Seals;
  source: Source | undefined;
  text: string;
  /** The text is a summary. */
  summary: boolean;
  index: number;
}

/** The entry of a whole answer; undefined for unsealed reasoning, which is only text. */
export function detailOf(detail: Detail): Fields | undefined {
  return entryOf(detail, detail.text, {});
}

/** The entry that ends a streamed block: its text was sent already, so it is in the envelope and not repeated. */
export function lastDetailOf(detail: Detail): Fields | undefined {
  return entryOf(detail, "", detail.text === "" ? {} : { text: detail.text });
}

function entryOf({ seals, source, text, summary, index }: Detail, shown: string, kept: { text?: string }) {
  const { signature, redacted, encrypted, details, origin = "" } = seals;
  if (signature === undefined && redacted === undefined && encrypted === undefined && details === undefined)
    return undefined;
  const envelope = sealed(seals, { summary, text: text !== "", source });
  // Without a known issuer it cannot be sent to anyone.
  if (source === undefined || envelope === undefined) return undefined;
  const value = carry({ ...envelope, ...kept });
  const format = FORMATS[origin] ?? "unknown";
  // An entry without text is shown as hidden reasoning.
  if (text === "") return { type: "reasoning.encrypted", data: value, format, index };
  return { type: "reasoning.text", text: shown, signature: value, format, index };
}

/** The tool call member with its signature; nothing if it has none. */
export function extraContentOf(
  call: { callId: string; signature?: string; origin?: string },
  source: Source | undefined,
): Fields {
  const signature = source === undefined ? undefined : sealedCall(call, source);
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** `extra_content.google.thought_signature` of a tool call. */
export function signatureOfCall(call: unknown): string | undefined {
  const extra = isFields(call) ? call["extra_content"] : undefined;
  const google = isFields(extra) ? extra["google"] : undefined;
  const signature = isFields(google) ? google["thought_signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/** A tool call's signature as the client returned it. One without an envelope may come from any Gemini provider. */
export function readCallSeal(call: Fields): ReturnType<typeof callSeal> {
  const signature = signatureOfCall(call);
  if (signature === undefined) return {};
  const carried = uncarry(signature);
  return carried === undefined ? { signature } : callSeal(fromCarried("", carried));
}

/** Our envelope in an entry of `reasoning_details`. */
export function envelopeOf(detail: Fields): ReturnType<typeof uncarry> {
  const value = typeof detail["signature"] === "string" ? detail["signature"] : detail["data"];
  return typeof value === "string" ? uncarry(value) : undefined;
}

/** The returned reasoning of a turn: what is sealed, else its plain text. */
export function readReasoning(fields: Fields): AssistantContent[] {
  const given = fields["reasoning_content"] ?? fields["reasoning"];
  const plain = typeof given === "string" ? given : "";
  const details: readonly unknown[] = Array.isArray(fields["reasoning_details"]) ? fields["reasoning_details"] : [];
  const parts: CarriedPart[] = [];
  const raw: Fields[] = [];
  for (const detail of details.filter(isFields)) {
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
