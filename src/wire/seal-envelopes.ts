// Carries opaque values of one protocol through a client of another. A foreign signature, encrypted item or signature of a tool
// call is put, as an envelope, into a field that the client returns byte for byte, and is read when it comes back. Messages and
// responses carry values of their own protocol without an envelope, except in stored responses. There, reasoning without a seal
// from another protocol gets an envelope too, because clients only return reasoning that has a seal.

import { isRecord } from "../base/json-object.ts";
import type { ReasoningPart } from "../chat/request.ts";
import { CALL_SIGNER } from "../chat/seals.ts";
import { given } from "./check.ts";

/** The content of an envelope. */
export interface Carried {
  /** The protocol that issued the values. */
  origin: string;
  /** The provider that issued them. The first release wrote envelopes without it. */
  minter?: string;
  signature?: string;
  redacted?: string;
  encrypted?: string;
  itemId?: string;
  /** OpenRouter's `reasoning_details`. */
  details?: readonly unknown[];
  /** The reasoning itself, if the client may not return it beside the envelope. */
  text?: string;
  /** Whether the text beside the envelope is a summary instead of the reasoning itself. */
  summary?: boolean;
  /** The tool call to which `signature` belongs. */
  callId?: string;
  /** Only in stored answers: whether the client saw `encrypted`, which is of its own protocol. */
  stored?: "shown" | "hidden";
}

/** No real signature begins like this, since no base64 alphabet contains the dot. */
const MARK = "sallyport.1.";

/** Writes an envelope as text of letters, digits, `-`, `_` and `.`. */
export function carry(values: Carried): string {
  return MARK + Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** Reads an envelope; undefined for any other text. */
export function uncarry(text: string): Carried | undefined {
  if (!text.startsWith(MARK)) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!isRecord(read) || typeof read["origin"] !== "string") return undefined;
  const values: Carried = { origin: read["origin"] };
  for (const key of ["signature", "redacted", "encrypted", "itemId", "callId", "minter", "text"] as const) {
    const value = read[key];
    if (typeof value === "string") values[key] = value;
  }
  if (read["summary"] === true) values.summary = true;
  if (read["stored"] === "shown" || read["stored"] === "hidden") values.stored = read["stored"];
  if (Array.isArray(read["details"])) values.details = read["details"];
  return values;
}

/** The part that an envelope contains: reasoning or, with a `callId`, the signature of that tool call. */
export type CarriedPart = ReasoningPart & { callId?: string };

/** The part for an envelope and the text beside it. */
export function fromCarried(text: string, carried: Carried): CarriedPart {
  const { summary, text: kept, stored: _stored, ...values } = carried;
  const said = kept ?? text;
  if (summary === true) return { type: "reasoning", text: "", ...(said === "" ? {} : { summary: [said] }), ...values };
  return { type: "reasoning", text: said, ...values };
}

/** The members that the envelope of a tool call's signature adds to the call. */
export function callSeal(part: CarriedPart | undefined): { signature?: string; origin?: string; minter?: string } {
  const { signature, origin, minter } = part ?? {};
  return given({ signature, origin: origin === CALL_SIGNER ? undefined : origin, minter });
}

/** The provider that gives an answer. */
export interface Source {
  protocol: string;
  minter: string;
}

/** The opaque values of a finished reasoning block. */
export interface Seals {
  signature?: string;
  redacted?: string;
  encrypted?: string;
  details?: readonly unknown[];
  itemId?: string;
  origin?: string;
}

/**
 * The envelope for a block's seals. A block without seals only gets one if there is text beside it and its provider is known.
 * `text`: whether there is text beside it.
 */
export function sealed(
  seals: Seals,
  how: { summary: boolean; text: boolean; source: Source | undefined },
): Carried | undefined {
  const { signature, redacted, encrypted, details, itemId, origin } = seals;
  const { source, summary } = how;
  const from = { origin: origin ?? source?.protocol ?? "", ...given({ minter: source?.minter }) };
  if (signature === undefined && redacted === undefined && encrypted === undefined && details === undefined) {
    return source === undefined || !how.text
      ? undefined
      : { ...from, ...given({ itemId, summary: summary ? true : undefined }) };
  }
  return {
    ...from,
    ...given({ signature, redacted, encrypted, details, itemId, summary: summary ? true : undefined }),
  };
}

/** The envelope of a tool call's own signature; undefined if it has none. */
export function sealedCall(
  call: { callId: string; signature?: string; origin?: string },
  source: Source | undefined,
): string | undefined {
  const { callId, signature, origin } = call;
  if (signature === undefined) return undefined;
  return carry({ origin: origin ?? CALL_SIGNER, ...given({ minter: source?.minter }), signature, callId });
}
