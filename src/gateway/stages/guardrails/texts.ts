// Which members of requests are texts: all but those that name or mark something. What is not known is a text, so that nothing
// that a protocol adds goes round the guardrails.

import { isRecord } from "../../../base/json-object.ts";

/** What becomes of a text. */
export interface TextMap {
  text(value: string): string;
  /** A JSON text. */
  json(value: string): string;
  /** Something that cannot be read was passed. */
  unread(): void;
  /** A signed text that would change, and so is left out. */
  leftOut(kind: string): void;
}

/** Members whose values are names, ids or marks of the protocols. */
const MARKS: ReadonlySet<string> = new Set([
  ...["type", "role", "id", "object", "status", "name", "kind", "model", "origin", "minter", "namespace", "index"],
  ...["call_id", "callId", "tool_call_id", "tool_use_id", "item_id", "itemId", "file_id", "fileId", "response_id"],
  ...["container_id", "server_label", "media_type", "mediaType", "mimeType", "mime_type", "format", "detail"],
  ...["cache_control", "cacheControl", "$ref", "required", "phase", "ttl", "thoughtSignature"],
]);
/** Members with bytes or sealed values. */
const UNREADABLE: ReadonlySet<string> = new Set([
  ...["file_data", "signature", "encrypted_content", "encrypted", "redacted", "details", "reasoning_details"],
  ...["images", "embedding", "b64_json", "embeddings"],
]);
/** Members in which an object has names of the client's own. */
const FREE: ReadonlySet<string> = new Set([
  "input",
  "arguments",
  "metadata",
  "args",
  "response",
  "state",
  "structuredContent",
]);
const DEPTH_MAX = 200;
/** Bytes as a URL. What only begins like one is a text. */
const DATA_URL = /^data:[\w.+/-]{0,100}(?:;[\w.+=-]{1,100}){0,5};base64,[\w+/=-]*$/;

/** The value with its texts changed; the same value if none is. */
export function mapTexts(value: unknown, map: TextMap, depth = 0): unknown {
  if (typeof value === "string") return DATA_URL.test(value) ? unread(value, map) : map.text(value);
  if (depth > DEPTH_MAX) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) return mapList(value, map, depth);
  return isRecord(value) ? mapMembers(value, map, depth) : value;
}

function unread<T>(value: T, map: TextMap): T {
  map.unread();
  return value;
}

function mapList(list: readonly unknown[], map: TextMap, depth: number): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [at, member] of list.entries()) {
    const mapped = isSigned(member) ? mapSigned(member, map, depth) : mapTexts(member, map, depth + 1);
    if (mapped !== member) changed ??= list.slice(0, at);
    if (mapped !== undefined) changed?.push(mapped);
  }
  return changed ?? list;
}

function mapMembers(record: Readonly<Record<string, unknown>>, map: TextMap, depth: number): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(record)) {
    const mapped = mapMember(record, name, { value, map, depth });
    if (mapped === value) continue;
    changed ??= { ...record };
    changed[name] = mapped;
  }
  return changed ?? record;
}

function mapMember(
  record: Readonly<Record<string, unknown>>,
  name: string,
  { value, map, depth }: { value: unknown; map: TextMap; depth: number },
): unknown {
  if (UNREADABLE.has(name)) return value == null ? value : unread(value, map);
  // A source of plain text has it where others have bytes.
  if (name === "data" && typeof value === "string" && record["type"] !== "text") return unread(value, map);
  // The bytes of a resource, as MCP has them.
  if (name === "blob" && typeof value === "string" && typeof record["uri"] === "string") return unread(value, map);
  // Schemas have objects under such names, and properties that are called so.
  if (MARKS.has(name) && !isRecord(value)) return value;
  if (name === "arguments" && typeof value === "string" && record["kind"] !== "custom") return map.json(value);
  if (FREE.has(name) && isRecord(value)) return mapFree(value, map, depth + 1);
  return mapTexts(value, map, depth + 1);
}

/** Data of the client's own: every value counts, numbers too. */
function mapFree(value: unknown, map: TextMap, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new RangeError("nested too deeply");
  if (typeof value === "string") return map.text(value);
  if (typeof value === "number") {
    const text = String(value);
    const mapped = map.text(text);
    return mapped === text ? value : mapped;
  }
  if (Array.isArray(value)) {
    const mapped = value.map((one) => mapFree(one, map, depth + 1));
    return mapped.every((one, at) => one === value[at]) ? value : mapped;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [map.text(name), mapFree(one, map, depth + 1)] as const);
  const isSame = entries.every(([name, one]) => Object.hasOwn(value, name) && value[name] === one);
  return isSame ? value : Object.fromEntries(entries);
}

/** Reasoning whose text is bound to a signature. */
function isSigned(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const { type } = value;
  return (type === "thinking" || type === "reasoning") && typeof value["signature"] === "string";
}

/** Signed reasoning goes as it came, or not at all. */
function mapSigned(value: Readonly<Record<string, unknown>>, map: TextMap, depth: number): unknown {
  if (mapMembers(value, map, depth + 1) === value) return value;
  map.leftOut(String(value["type"]));
  return undefined;
}
