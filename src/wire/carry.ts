// Opaque values of one protocol, carried through a client of another: where a client hands back a signature byte for byte,
// a foreign signature, encrypted item or tool signature rides in that field as an envelope and is read back on return.
// Values of the client's own protocol are never wrapped.

import type { ReasoningPart } from "../chat/request.ts";
import { isFields } from "./check.ts";

/** What an envelope holds. */
export interface Carried {
  /** The protocol that minted the values. */
  origin: string;
  signature?: string;
  redacted?: string;
  encrypted?: string;
  itemId?: string;
  /** The text beside the envelope is a summary, not the reasoning itself. */
  summary?: boolean;
  /** `signature` belongs to this tool call. */
  callId?: string;
}

/** No real signature starts so: the dot is outside every base64 alphabet. */
const MARK = "sallyport.1.";

/** The envelope as text of letters, digits, `-`, `_` and `.`. */
export function carry(values: Carried): string {
  return MARK + Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** What an envelope holds; undefined for a value that is none of ours. */
export function uncarry(text: string): Carried | undefined {
  if (!text.startsWith(MARK)) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!isFields(read) || typeof read["origin"] !== "string") return undefined;
  const values: Carried = { origin: read["origin"] };
  for (const key of ["signature", "redacted", "encrypted", "itemId", "callId"] as const) {
    const value = read[key];
    if (typeof value === "string") values[key] = value;
  }
  if (read["summary"] === true) values.summary = true;
  return values;
}

/** A reasoning part; with a `callId` it is none, but holds the signature of that tool call. */
export type CarriedPart = ReasoningPart & { callId?: string };

/** The part that an envelope and the text beside it stand for. */
export function fromCarried(text: string, carried: Carried): CarriedPart {
  const { summary, ...values } = carried;
  if (summary === true) return { type: "reasoning", text: "", ...(text === "" ? {} : { summary: [text] }), ...values };
  return { type: "reasoning", text, ...values };
}
