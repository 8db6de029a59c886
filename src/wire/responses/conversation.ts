// Conversations of the Responses API: the id in a request, and the items as clients send them and as they are returned.

import { entryOf, isRecord } from "../../base/json-object.ts";
import { at, expectFields, expectList, expectString, expectText, type Fields, maybe, need, reject } from "../check.ts";
import { isCompactionTrigger } from "./entries.ts";
import { readInput } from "./items.ts";
import { itemIdOf } from "./references.ts";
import { shownItem } from "./stored.ts";

/** The id of a request's conversation; undefined if it names none. Throws 400. */
export function conversationIdOf(body: Fields): string | undefined {
  const given = body["conversation"];
  if (isRecord(given)) return need(given, "id", expectText, "conversation");
  const id = maybe(body, "conversation", expectText);
  if (id === undefined) return undefined;
  const other = body["previous_response_id"];
  if (other === undefined || other === null) return id;
  const message = "Mutually exclusive parameters: only one of 'previous_response_id' and 'conversation' may be sent.";
  return reject("conversation", message);
}

/** Maximum number of items that one request may add to a conversation. */
const ITEMS_MAX = 20;

/** Reads the items that a request adds. Throws 400. */
export function newItems(body: Fields): readonly unknown[] {
  const items = need(body, "items", expectList);
  if (items.length > ITEMS_MAX) reject("items", `Invalid 'items': at most ${ITEMS_MAX} items can be added at a time.`);
  readInput(items, "items");
  const asks = items.findIndex(isCompactionTrigger);
  // A request for compaction is not an item of a conversation; if it were stored, every later request would fail.
  if (asks >= 0)
    reject(
      `items[${asks}].type`,
      `Invalid 'items[${asks}].type': request a compaction with 'POST /v1/responses' instead.`,
    );
  return items;
}

const PAIRS_MAX = 16;
const NAME_CHARS_MAX = 64;
const VALUE_CHARS_MAX = 512;

/** Reads the metadata of a conversation. Throws 400. */
export function metadataOf(body: Fields): Readonly<Record<string, string>> {
  const metadata = maybe(body, "metadata", expectFields) ?? {};
  const pairs = Object.entries(metadata).map(([name, value]) => {
    const path = at("metadata", name.slice(0, NAME_CHARS_MAX));
    if (name.length > NAME_CHARS_MAX)
      reject(path, `Invalid '${path}': a name has at most ${NAME_CHARS_MAX} characters.`);
    const text = expectString(value, path);
    if (text.length > VALUE_CHARS_MAX) reject(path, `Invalid '${path}': at most ${VALUE_CHARS_MAX} characters.`);
    return [name, text] as const;
  });
  if (pairs.length > PAIRS_MAX) reject("metadata", `Invalid 'metadata': at most ${PAIRS_MAX} pairs.`);
  return Object.fromEntries(pairs);
}

/** The prefixes of ids by the type of item; all others begin with `item_`. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  function_call_output: "fco_",
  custom_tool_call: "ctc_",
  custom_tool_call_output: "ctco_",
  compaction: "cmp_",
};

/** Creates an id for an item without one. `batch` distinguishes items that are created together from all others. */
export function newItemId(item: Fields, batch: string, index: number): string {
  return itemIdOf(entryOf(PREFIXES, typeOf(item)) ?? "item_", batch, index);
}

/** The item's own id, if this gateway accepts it. */
export function ownItemId(item: Fields): string | undefined {
  const id = item["id"];
  return typeof id === "string" && /^[\w-]{1,128}$/.test(id) ? id : undefined;
}

/** An item as its conversation returns it. `encrypted`: whether the client asks for encrypted reasoning. */
export function conversationItem(item: Fields, id: string, { encrypted }: { encrypted: boolean }): Fields {
  const type = typeOf(item);
  const shown: Fields = { ...shownItem(item, { encrypted }), id, type };
  const hasStatus = type === "message" || type.endsWith("_call") || type.endsWith("_call_output");
  return {
    ...shown,
    ...(hasStatus && shown["status"] === undefined ? { status: "completed" } : {}),
    ...(type === "message" ? { content: partsOf(shown) } : {}),
  };
}

function typeOf(item: Fields): string {
  return typeof item["type"] === "string" ? item["type"] : "message";
}

/** The content as a list, which it always is in conversations. */
function partsOf({ role, content }: Fields): unknown {
  if (typeof content !== "string") return content ?? [];
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
    : [{ type: "input_text", text: content }];
}
