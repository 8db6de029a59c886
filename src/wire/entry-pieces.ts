// Functions that the formats share to read elements: names of media, and texts of parts. They validate nothing, since the body
// was validated before; an unknown part becomes its JSON text.

import { isRecord } from "../base/json-object.ts";
import type { Element, Piece } from "../chat/entries.ts";
import { HISTORY_BINDER } from "../chat/seals.ts";
import { uncarry } from "./seal-envelopes.ts";

/** The member as text; "" if it is not a text. */
export function textIn(value: Element, name: string): string {
  const text = value[name];
  return typeof text === "string" ? text : "";
}

/** The label of a media part: its kind, with its name or address if that is short. */
export function mediaLabel(part: Element): string {
  const kind =
    textIn(part, "type")
      .replace(/^input_/, "")
      .replace(/_url$/, "") || "file";
  const source = isRecord(part["source"]) ? part["source"] : isRecord(part["image_url"]) ? part["image_url"] : part;
  const address = [source["url"], part["image_url"], part["file_url"]].find((one) => typeof one === "string");
  const name = [part["filename"], part["title"], part["file_id"], source["file_id"]].find(
    (one) => typeof one === "string",
  );
  if (typeof name === "string") return `${kind} ${name.slice(0, 100)}`;
  if (typeof address === "string" && !address.startsWith("data:")) return `${kind} ${address.slice(0, 200)}`;
  const mediaType = source["media_type"] ?? /^data:([^;,]+)/.exec(String(address ?? "").slice(0, 100))?.[1];
  return typeof mediaType === "string" ? `${kind} (${mediaType})` : kind;
}

/** The types of media parts in all formats. */
export const MEDIA: ReadonlySet<unknown> = new Set([
  "image",
  "image_url",
  "input_image",
  "document",
  "file",
  "input_file",
  "input_audio",
  "computer_screenshot",
]);

/** The piece for an unknown part or block: its JSON text. */
export function unknownPiece(part: unknown): Piece {
  return { type: "text", text: JSON.stringify(part, withoutSeal) ?? "" };
}

/** Leaves out values that the gateway sealed: nobody reads anything in them. */
function withoutSeal(_name: string, value: unknown): unknown {
  return typeof value === "string" && value.startsWith(SEALED) ? undefined : value;
}

/** How the gateway's own seals begin. */
const SEALED = "sallyport.";

/** The pieces of text and media of a string or a list of parts. */
export function contentPieces(content: unknown): Piece[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((part: unknown): Piece => {
    if (!isRecord(part)) return unknownPiece(part);
    if (MEDIA.has(part["type"])) return { type: "media", label: mediaLabel(part) };
    for (const name of ["text", "refusal"])
      if (typeof part[name] === "string") return { type: "text", text: part[name] };
    return unknownPiece(part);
  });
}

/** The texts and media of a tool result. */
export function resultPiece(id: string, content: unknown): Extract<Piece, { type: "result" }> {
  const pieces = contentPieces(content);
  const texts = pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : []));
  const media = pieces.flatMap((piece) => (piece.type === "media" ? [piece.label] : []));
  return { type: "result", id, text: texts.join("\n"), media };
}

/** Whether a value without an envelope was sealed by its provider, which refuses it after a different history. */
export function isBound(value: unknown): boolean {
  if (typeof value !== "string" || value === "") return false;
  return (uncarry(value)?.origin ?? HISTORY_BINDER) === HISTORY_BINDER;
}

/** The list in a member; empty if there is none. */
export function listIn(value: Element, name: string): readonly unknown[] {
  const list = value[name];
  return Array.isArray(list) ? list : [];
}

/** Parses a JSON object; undefined for `[DONE]` and for truncated text. */
export function parsedFields(text: string): Element | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
