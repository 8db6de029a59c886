// The input items of a responses request, as compaction reads and changes them.

import { isRecord } from "../../base/json-object.ts";
import type {
  CarriedRecord,
  Element,
  Entry,
  EntryFormat,
  OpenedRecord,
  Piece,
  ResultPiece,
} from "../../chat/entries.ts";
import { reject } from "../check.ts";
import { contentPieces, isBound, listIn, MEDIA, resultPiece, textIn, unknownPiece } from "../entry-pieces.ts";
import { uncarry } from "../seal-envelopes.ts";
import { responsesEdits } from "./context-edits.ts";
import { inputItems } from "./references.ts";

/** The list of items. */
export const responsesEntries: EntryFormat = {
  member: "input",
  list: (body) => inputItems(body).filter(isRecord),
  fixed: (body) => JSON.stringify([body["instructions"] ?? null, body["tools"] ?? null, body["text"] ?? null]),
  entry,
  withResults(element, say) {
    if (!isOutput(element)) return element;
    const text = say(resultOf(element));
    if (text === undefined) return element;
    // The outputs of tools with a format of their own are not changed.
    const plain = PLAIN_OUTPUTS.has(element["type"]);
    return plain ? { ...element, output: text } : element;
  },
  withoutReasoning: (element) => {
    const foreign = element["type"] === "reasoning" && uncarry(textIn(element, "encrypted_content")) !== undefined;
    return foreign && isBound(element["encrypted_content"]) ? undefined : element;
  },
  withText: (element, text) => {
    const content = element["content"];
    const media = Array.isArray(content)
      ? content.filter((part: unknown) => isRecord(part) && MEDIA.has(part["type"]))
      : [];
    return { ...element, content: [...media, { type: "input_text", text }] };
  },
  userMessage: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
  expand,
  asksRecord(body) {
    const items = inputItems(body);
    const at = items.findIndex(isCompactionTrigger);
    if (at < 0) return undefined;
    if (at < items.length - 1) {
      const param = `input[${at}]`;
      reject(param, `Invalid '${param}': a '${TRIGGER}' item must be the last one of the input.`);
    }
    return { wish: undefined };
  },
  withoutAsking: (body) => ({
    ...body,
    input: inputItems(body).filter((item) => !isCompactionTrigger(item)),
  }),
  editing: { member: "context_management", edits: responsesEdits },
  record: ({ id, sealed }) => ({ id, type: "compaction", encrypted_content: sealed }),
  answer: (body) => listIn(body, "output").filter(isRecord),
  streamed(events) {
    const last = events.findLast(({ response }) => isRecord(response))?.["response"];
    return isRecord(last) ? listIn(last, "output").filter(isRecord) : [];
  },
};

/** The types of tool results that may be any text. */
const PLAIN_OUTPUTS: ReadonlySet<unknown> = new Set(["function_call_output", "custom_tool_call_output"]);

/** The type of the item that requests a record of the input. */
const TRIGGER = "compaction_trigger";
const RECORDS: ReadonlySet<unknown> = new Set(["compaction", "compaction_summary"]);

/** Whether an item requests a record; it is not part of the conversation. */
export function isCompactionTrigger(item: unknown): boolean {
  return isRecord(item) && item["type"] === TRIGGER;
}

/**
 * Replaces the items before a record by its content. Messages of the user and of the system before a plain record are kept, since
 * clients either send them beside the record or drop them.
 */
function expand(
  list: readonly Element[],
  open: (record: CarriedRecord, param: string) => OpenedRecord | undefined,
): readonly Element[] {
  const at = list.findLastIndex((item) => RECORDS.has(item["type"]));
  const item = list[at];
  if (item === undefined) return list;
  const opened = open({ text: undefined, sealed: textIn(item, "encrypted_content") }, `input[${at}].encrypted_content`);
  if (opened === undefined) return list;
  if ("list" in opened) return [...opened.list, ...list.slice(at + 1)];
  const before = list.slice(0, at).filter((one) => ["user", "system"].includes(entry(one).role));
  return [...before, responsesEntries.userMessage(opened.text), ...list.slice(at + 1)];
}

function entry(item: Element): Entry {
  const type = item["type"] ?? "message";
  switch (type) {
    case "message":
      return { role: roleOf(item), pieces: contentPieces(item["content"]) };
    case "reasoning":
      return { role: "assistant", pieces: [{ type: "reasoning", text: reasoningText(item) }] };
    case "compaction":
    case "compaction_summary":
      return {
        role: "assistant",
        pieces: [{ type: "compaction", text: undefined, sealed: textIn(item, "encrypted_content") }],
      };
    case "additional_tools":
      return { role: "system", pieces: [unknownPiece(item["tools"])] };
    case "configuration_update":
      return { role: "system", pieces: [] };
    default:
      if (isOutput(item)) return { role: "tool", pieces: [resultOf(item)] };
      return { role: "assistant", pieces: [callId(item) === "" ? unknownPiece(item) : callOf(item)] };
  }
}

function roleOf(item: Element): Entry["role"] {
  const role = item["role"];
  if (role === "assistant" || role === "user") return role;
  return "system";
}

function isOutput(item: Element): boolean {
  const type = textIn(item, "type");
  return type.endsWith("_output") || type.endsWith("_response");
}

/** The id that links a call with its result, for every kind of tool. */
function callId(item: Element): string {
  if (item["type"] === "mcp_approval_request") return textIn(item, "id");
  return textIn(item, "call_id") || textIn(item, "approval_request_id");
}

function callOf(item: Element): Piece {
  const text = textIn(item, "arguments") || textIn(item, "input") || JSON.stringify(item["action"] ?? {});
  return { type: "call", id: callId(item), name: textIn(item, "name") || textIn(item, "type"), text };
}

function resultOf(item: Element): ResultPiece {
  const { output } = item;
  const content = typeof output === "string" || Array.isArray(output) ? output : JSON.stringify(output ?? "");
  return resultPiece(callId(item), content);
}

function reasoningText(item: Element): string {
  const texts = [item["summary"], item["content"]].flatMap((parts) =>
    Array.isArray(parts) ? (parts as unknown[]) : [],
  );
  return texts.map((part) => (isRecord(part) ? textIn(part, "text") : "")).join("\n");
}
