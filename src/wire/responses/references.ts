// References of a responses request to earlier items. Clients that let answers be stored hand items back by id alone
// (`item_reference`); upstreams of other protocols need the items themselves.

import { type Fields, isFields } from "../check.ts";

/** What tells ids that are made here from every vendor's: theirs are hex digits, letters or UUIDs without such a mark. */
const MARK = "sallyport_";
/** Ids made by `itemId`: kind, mark, the response's own part and the item's place. */
const MADE_ID = new RegExp(`^[a-z]+_${MARK}([0-9A-Za-z]{8,64})[0-9a-f]{4}$`);
/** Those of the first release: 36 hex digits, where OpenAI's are 48 and more. */
const FIRST_ID = /^(?:msg|rs|fc|ctc)_([0-9a-f]{32})[0-9a-f]{4}$/;

/** The id of the item at a place of a response; `prefix` tells its kind. */
export function itemIdOf(prefix: string, responseId: string, outputIndex: number): string {
  const tail = responseId.slice(responseId.indexOf("_") + 1);
  return `${prefix}${MARK}${tail}${outputIndex.toString(16).padStart(4, "0")}`;
}

/** The id of the response whose item this is; undefined for ids that were not made here. */
export function responseOfItem(id: string): string | undefined {
  const tail = (MADE_ID.exec(id) ?? FIRST_ID.exec(id))?.[1];
  return tail === undefined ? undefined : `resp_${tail}`;
}

/** The ids that the input refers to, each once. */
export function referencedItems(body: Fields): string[] {
  const input = body["input"];
  if (!Array.isArray(input)) return [];
  return [...new Set(input.map(referenceOf).filter((id) => id !== undefined))];
}

/** The body with the referenced items in the places of their references; those that are not found stay as they are. */
export function resolveReferences(body: Fields, items: ReadonlyMap<string, Fields>): Fields {
  const input = body["input"];
  if (!Array.isArray(input)) return body;
  return { ...body, input: input.map((item: unknown) => items.get(referenceOf(item) ?? "") ?? item) };
}

function referenceOf(item: unknown): string | undefined {
  if (!isFields(item) || typeof item["id"] !== "string") return undefined;
  const type = item["type"];
  // The type may be left out; then nothing but the id tells.
  const bare = (type === undefined || type === null) && item["role"] === undefined;
  return type === "item_reference" || bare ? item["id"] : undefined;
}

/** The input as a list of items: a string is one user message. */
export function inputItems(body: Fields): readonly unknown[] {
  const input = body["input"];
  if (Array.isArray(input)) return input;
  if (typeof input !== "string") return [];
  return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
}

/**
 * Items as an upstream may be given them that has never seen them: without the ids that were made here, which it would look
 * up in vain, and without reasoning that only such an id stood for.
 */
export function portableItems(items: readonly unknown[]): unknown[] {
  return items.flatMap((item) => {
    if (!isFields(item) || typeof item["id"] !== "string" || responseOfItem(item["id"]) === undefined) return [item];
    if (item["type"] === "reasoning" && typeof item["encrypted_content"] !== "string") return [];
    const { id: _id, ...rest } = item;
    return [rest];
  });
}
