// References of a responses request to earlier items. Clients whose answers are stored return items by their id alone
// (`item_reference`), but upstreams of other protocols need the items themselves.

import { isRecord } from "../../base/json-object.ts";
import type { Fields } from "../check.ts";

/** Distinguishes the gateway's ids from those of all vendors, which are hex digits, letters or UUIDs without this mark. */
const MARK = "sallyport_";
/** Matches ids that `itemIdOf` creates: the kind, the mark, the response's own part and the item's index. */
const MADE_ID = new RegExp(`^[a-z]+_${MARK}([0-9A-Za-z]{8,64})[0-9a-f]{4}$`);
/** Matches ids of the first release, which had 36 hex digits; OpenAI's have at least 48. */
const FIRST_ID = /^(?:msg|rs|fc|ctc)_([0-9a-f]{32})[0-9a-f]{4}$/;

/** The id of an item, by its index in a response. `prefix` is that of its kind. */
export function itemIdOf(prefix: string, responseId: string, outputIndex: number): string {
  const tail = responseId.slice(responseId.indexOf("_") + 1);
  return `${prefix}${MARK}${tail}${outputIndex.toString(16).padStart(4, "0")}`;
}

/** The id of the response to which an item belongs; undefined for ids that the gateway did not create. */
export function responseOfItem(id: string): string | undefined {
  const tail = (MADE_ID.exec(id) ?? FIRST_ID.exec(id))?.[1];
  return tail === undefined ? undefined : `resp_${tail}`;
}

/** The ids to which the input refers, each once. */
export function referencedItems(body: Fields): string[] {
  const input = body["input"];
  if (!Array.isArray(input)) return [];
  return [...new Set(input.map(referenceOf).filter((id) => id !== undefined))];
}

/** The body with references replaced by the items. References that are not found are left unchanged. */
export function resolveReferences(body: Fields, items: ReadonlyMap<string, Fields>): Fields {
  const input = body["input"];
  if (!Array.isArray(input)) return body;
  return { ...body, input: input.map((item: unknown) => items.get(referenceOf(item) ?? "") ?? item) };
}

function referenceOf(item: unknown): string | undefined {
  if (!isRecord(item) || typeof item["id"] !== "string") return undefined;
  const type = item["type"];
  // The type may be left out; then the item has only an id.
  const bare = (type === undefined || type === null) && item["role"] === undefined;
  return type === "item_reference" || bare ? item["id"] : undefined;
}

/** The input as a list of items. A string becomes one user message. */
export function inputItems(body: Fields): readonly unknown[] {
  const input = body["input"];
  if (Array.isArray(input)) return input;
  if (typeof input !== "string") return [];
  return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
}

/**
 * Items for an upstream that has not seen them before: without ids that the gateway created, which it could not find, and without
 * reasoning that consists only of such an id.
 */
export function portableItems(items: readonly unknown[]): unknown[] {
  return items.flatMap((item) => {
    if (!isRecord(item) || typeof item["id"] !== "string" || responseOfItem(item["id"]) === undefined) return [item];
    // Whether the provider takes reasoning that is not encrypted is decided with its seals.
    if (item["type"] === "reasoning" && typeof item["encrypted_content"] !== "string") return [item];
    const { id: _id, ...rest } = item;
    return [rest];
  });
}
