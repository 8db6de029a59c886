// An independent reader of the responses stream: checks the protocol's order and assembles the answer as a client would.

import type { Json, Sent } from "./support.ts";

interface Item {
  id: unknown;
  type: unknown;
  done: Json | undefined;
  /** The texts by "part kind + index", for parts that are open or complete. */
  texts: Map<string, string>;
  openParts: Set<string>;
  doneParts: Map<string, Json>;
}

const DELTAS: Readonly<Record<string, [kind: string, index: string, whole: string]>> = {
  "response.output_text": ["content", "content_index", "text"],
  "response.refusal": ["content", "content_index", "refusal"],
  "response.reasoning_summary_text": ["summary", "summary_index", "text"],
  "response.function_call_arguments": ["call", "", "arguments"],
  "response.custom_tool_call_input": ["call", "", "input"],
};

/**
 * The response that a client ends up with, checked against the items that it received. Throws on the first frame that is out of
 * order.
 */
export function gatherResponse(frames: readonly Sent[]): Json {
  const items = new Map<number, Item>();
  let id: unknown;
  let last: Json | undefined;
  frames.forEach(({ event, data }, i) => {
    const check = (holds: boolean, what: string) => {
      if (!holds) throw new Error(`frame ${i} (${event}): ${what}`);
    };
    check(event === data["type"], "event name and payload type differ");
    check(data["sequence_number"] === i, "the sequence number does not rise by one");
    check(last === undefined, "comes after the end");
    if (i === 0) check(event === "response.created", "is not the first frame");
    if (i === 1) check(event === "response.in_progress", "is not the second frame");
    const response = data["response"] as Json | undefined;
    if (response !== undefined) {
      id ??= response["id"];
      check(response["id"] === id, "the response id changes");
      if (i < 2) check(response["status"] === "in_progress", "is not in progress");
      else {
        check(event === `response.${response["status"]}`, "status and event differ");
        last = response;
      }
      return;
    }
    itemEvent(String(event), data, items, check);
  });
  if (last === undefined) throw new Error("the stream has no end");
  const output = [...items.keys()].sort((a, b) => a - b).map((index) => items.get(index)?.done);
  if (output.includes(undefined)) throw new Error("an item has no output_item.done");
  if (JSON.stringify(output) !== JSON.stringify(last["output"])) throw new Error("the items and the output differ");
  return last;
}

type Check = (holds: boolean, what: string) => void;

function itemEvent(event: string, data: Json, items: Map<number, Item>, check: Check): void {
  const index = data["output_index"] as number;
  if (event === "response.output_item.added") {
    check(index === items.size, `output index ${index} instead of ${items.size}`);
    const item = data["item"] as Json;
    check(
      [...items.values()].every((other) => other.id !== item["id"]),
      "the item id is taken",
    );
    items.set(index, {
      id: item["id"],
      type: item["type"],
      done: undefined,
      texts: new Map(),
      openParts: new Set(),
      doneParts: new Map(),
    });
    if (item["type"] === "function_call" || item["type"] === "custom_tool_call")
      items.get(index)?.openParts.add("call");
    return;
  }
  const item = items.get(index);
  check(item !== undefined && item.done === undefined, "its item is not open");
  if (item === undefined) return;
  if (event === "response.output_item.done") {
    const done = data["item"] as Json;
    check(done["id"] === item.id && done["type"] === item.type, "the item's id or type changes");
    check(item.openParts.size === 0, "a part is still open");
    checkDone(item, done, check);
    item.done = done;
    return;
  }
  check(data["item_id"] === item.id, "the item id differs");
  const part = /^response\.(content|reasoning_summary)_part\.(added|done)$/.exec(event);
  if (part !== null) {
    const kind = part[1] === "content" ? "content" : "summary";
    const key = `${kind}${data[`${kind}_index`]}`;
    if (part[2] === "added") {
      check(!item.texts.has(key), "the part was there before");
      item.texts.set(key, "");
      item.openParts.add(key);
    } else {
      check(item.openParts.delete(key), "the part is not open");
      item.doneParts.set(key, data["part"] as Json);
    }
    return;
  }
  if (event === "response.output_text.annotation.added") return;
  if (/^response\.web_search_call\.(?:in_progress|searching|completed)$/.test(event)) {
    check(item.type === "web_search_call", "the item is no search");
    return;
  }
  const cut = event.lastIndexOf(".");
  const rule = DELTAS[event.slice(0, cut)];
  check(rule !== undefined, "is no event of this format");
  if (rule === undefined) return;
  const key = rule[0] === "call" ? "call" : `${rule[0]}${data[rule[1]]}`;
  check(item.openParts.has(key), "its part is not open");
  if (event.endsWith(".delta")) item.texts.set(key, (item.texts.get(key) ?? "") + data["delta"]);
  else {
    check(data[rule[2]] === (item.texts.get(key) ?? ""), "the whole is not the sum of its deltas");
    if (key === "call") item.openParts.delete(key);
  }
}

function checkDone(item: Item, done: Json, check: Check): void {
  const parts = (done["content"] ?? done["summary"] ?? []) as Json[];
  const kind = done["content"] === undefined ? "summary" : "content";
  if (done["type"] === "message" || (done["type"] === "reasoning" && parts.length > 0)) {
    check(parts.length === item.doneParts.size, "the item has other parts than were sent");
    parts.forEach((part, i) => {
      check(JSON.stringify(part) === JSON.stringify(item.doneParts.get(`${kind}${i}`)), `part ${i} differs`);
    });
  }
  const text = done["arguments"] ?? done["input"];
  if (text !== undefined && item.type !== "server_thing")
    check(text === (item.texts.get("call") ?? ""), "the arguments differ");
}
