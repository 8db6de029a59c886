// Thought signatures. The protocol says that they are base64, which clients decode and encode again, so an envelope for values of other
// protocols is written as base64 too.

import type { JsonEdit } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import { CALL_SIGNER, canRead, type SealReader } from "../../chat/seals.ts";
import type { Fields } from "../check.ts";
import type { OpenedSeals } from "../format.ts";
import { type Carried, carry, uncarry } from "../seal-envelopes.ts";

/** The protocol's name in `origin`. */
export const GEMINI_ORIGIN = CALL_SIGNER;

/** How every envelope begins in base64. */
const MARK = Buffer.from("sallyport.1.").toString("base64");

/** The signature that contains an envelope. */
export function toSignature(values: Carried): string {
  return inBase64(carry(values));
}

/** An envelope's text as a signature. */
export function inBase64(envelope: string): string {
  return Buffer.from(envelope).toString("base64");
}

/** The envelope in a signature; undefined for a signature of the protocol's own provider. */
export function fromSignature(signature: string): Carried | undefined {
  return signature.startsWith(MARK) ? uncarry(Buffer.from(signature, "base64").toString("utf8")) : undefined;
}

/** Opens the signatures in the history of a relayed request. Those of other providers are removed. */
export function openContents(body: Fields, reader: SealReader): OpenedSeals {
  const edits: JsonEdit[] = [];
  let removed = false;
  eachOf(body["contents"], (content, at) => {
    if (!isRecord(content)) return;
    eachOf(content["parts"], (part, where) => {
      const signature = isRecord(part) ? part["thoughtSignature"] : undefined;
      if (typeof signature !== "string") return;
      const path: Path = ["contents", ...at, "parts", ...where, "thoughtSignature"];
      const carried = fromSignature(signature);
      const value = carried === undefined ? signature : carried.signature;
      const seal = carried ?? { origin: GEMINI_ORIGIN };
      if (value === undefined || !canRead({ ...seal, value }, reader)) {
        edits.push({ path });
        removed = true;
      } else if (value !== signature) edits.push({ path, value });
    });
  });
  return { edits, removed };
}

type Path = JsonEdit["path"];

const ALONE: Path = [];

/** Calls `take` for the elements of a list, or for the value that stands in place of a list, each with its place. */
function eachOf(value: unknown, take: (value: unknown, at: Path) => void): void {
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) take(value[i], [i]);
  else take(value, ALONE);
}
