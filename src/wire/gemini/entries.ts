// The contents of a request of Gemini's API, as compaction reads and changes them.

import { isRecord } from "../../base/json-object.ts";
import type { Element, Entry, EntryFormat, Piece, ResultPiece } from "../../chat/entries.ts";
import { listIn, textIn, unknownPiece } from "../entry-pieces.ts";

/** The list of contents. */
export const geminiEntries: EntryFormat = {
  member: "contents",
  list: ({ contents }) => (Array.isArray(contents) ? contents : [contents]).filter(isRecord),
  fixed: (body) =>
    JSON.stringify([body["systemInstruction"] ?? null, body["tools"] ?? null, body["generationConfig"] ?? null]),
  entry,
  withResults(element, say) {
    let changed = false;
    const parts = partsOf(element).map((part) => {
      const response = responseOf(part);
      const text = response && say(resultOf(response));
      if (text === undefined) return part;
      changed = true;
      const { parts: _media, ...rest } = response ?? {};
      return { ...part, functionResponse: { ...rest, response: { output: text } } };
    });
    return changed ? { ...element, parts } : element;
  },
  // A provider accepts its signatures after a shorter history.
  withoutReasoning: (element) => element,
  withText: (element, text) => ({ ...element, parts: [...partsOf(element).filter(isMedia), { text }] }),
  userMessage: (text) => ({ role: "user", parts: [{ text }] }),
  // The protocol has no compaction, so there are no records to open.
  expand: (list) => list,
  asksRecord: () => undefined,
  withoutAsking: (body) => body,
  record: ({ text }) => ({ role: "model", parts: [{ text }] }),
  answer: (body) => contentOf(body),
  streamed: ofChunks,
};

/** The parts of a content, which may have a single one. */
function partsOf({ parts }: Element): Element[] {
  return (Array.isArray(parts) ? parts : [parts]).filter(isRecord);
}

function responseOf(part: Element): Element | undefined {
  return isRecord(part["functionResponse"]) ? part["functionResponse"] : undefined;
}

function isMedia(part: Element): boolean {
  return isRecord(part["inlineData"]) || isRecord(part["fileData"]);
}

function entry(element: Element): Entry {
  const pieces = partsOf(element).map(pieceOf);
  if (element["role"] === "model") return { role: "assistant", pieces };
  const onlyResults = pieces.length > 0 && pieces.every((piece) => piece.type === "result");
  return { role: onlyResults ? "tool" : "user", pieces };
}

function pieceOf(part: Element): Piece {
  const response = responseOf(part);
  if (response !== undefined) return resultOf(response);
  const call = part["functionCall"];
  if (isRecord(call)) {
    const name = textIn(call, "name");
    return { type: "call", id: textIn(call, "id") || name, name, text: JSON.stringify(call["args"] ?? {}) };
  }
  if (isMedia(part)) return { type: "media", label: labelOf(part) };
  if (typeof part["text"] !== "string") return unknownPiece(part);
  return { type: part["thought"] === true ? "reasoning" : "text", text: part["text"] };
}

/** The result of a call: by its id, else by the name of its function. */
function resultOf(response: Element): ResultPiece {
  const value = response["response"];
  const said =
    isRecord(value) && Object.keys(value).length === 1 ? (value["output"] ?? value["result"] ?? value) : value;
  const media = listIn(response, "parts").filter(isRecord).map(labelOf);
  const id = textIn(response, "id") || textIn(response, "name");
  return { type: "result", id, text: typeof said === "string" ? said : (JSON.stringify(said) ?? ""), media };
}

function labelOf(part: Element): string {
  const data = isRecord(part["inlineData"]) ? part["inlineData"] : isRecord(part["fileData"]) ? part["fileData"] : {};
  const type = textIn(data, "mimeType");
  const kind = type.startsWith("image/") ? "image" : "file";
  const address = textIn(data, "fileUri").slice(0, 200);
  return address === "" ? `${kind} (${type})` : `${kind} ${address}`;
}

/** The content of a whole answer. */
function contentOf(body: Element): Element[] {
  const [candidate] = listIn(body, "candidates");
  const content = isRecord(candidate) ? candidate["content"] : undefined;
  return isRecord(content) && partsOf(content).length > 0 ? [{ role: "model", ...content }] : [];
}

/** Assembles the content of a stream from its chunks. Pieces of one text become one part. */
function ofChunks(frames: readonly Element[]): Element[] {
  const parts: Record<string, unknown>[] = [];
  for (const frame of frames) {
    const candidate = listIn(frame, "candidates").find((one) => isRecord(one) && (one["index"] ?? 0) === 0);
    const content = isRecord(candidate) ? candidate["content"] : undefined;
    for (const part of isRecord(content) ? partsOf(content) : []) addPart(parts, part);
  }
  return parts.length === 0 ? [] : [{ role: "model", parts }];
}

function addPart(parts: Record<string, unknown>[], part: Element): void {
  const last = parts.at(-1);
  const { text, thought, thoughtSignature: signature } = part;
  if (text === "" && signature === undefined) return;
  const follows =
    typeof text === "string" &&
    typeof last?.["text"] === "string" &&
    last["thoughtSignature"] === undefined &&
    last["thought"] === thought;
  if (!follows) parts.push({ ...part });
  else {
    last["text"] = `${last["text"]}${text}`;
    if (signature !== undefined) last["thoughtSignature"] = signature;
  }
}
