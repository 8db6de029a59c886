// Sends a stored response as a stream, for clients that request it again: the protocol's events in order, with each text in one
// delta.

import { isRecord } from "../../base/json-object.ts";
import type { Fields } from "../check.ts";

/** Where the stream starts. */
export interface ReplayOptions {
  /** Events up to this sequence number are left out. The last event is always sent, as it contains the whole answer. */
  after?: number;
}

/** The text of the stream for a finished response object. */
export function replayResponse(response: Fields, { after = -1 }: ReplayOptions = {}): string {
  const events = eventsOf(response);
  const last = events.length - 1;
  const frames = events.flatMap((event, i) => {
    if (i <= after && i < last) return [];
    const data = { ...event, sequence_number: Math.max(i, i === last ? after + 1 : 0) };
    return [`event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`];
  });
  return `${frames.join("")}data: [DONE]\n\n`;
}

type Event = Fields & { type: string };

function eventsOf(response: Fields): Event[] {
  const output = (Array.isArray(response["output"]) ? response["output"] : []).filter(isRecord);
  const begun = { ...response, status: "in_progress", completed_at: null, output: [], usage: null };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${String(response["status"])}`, response },
  ];
}

function itemEvents(item: Fields, output_index: number): Event[] {
  const where = { item_id: item["id"], output_index };
  const { begun, events } = bodyOf(item, where);
  return [
    { type: "response.output_item.added", output_index, item: { ...item, ...begun } },
    ...events,
    { type: "response.output_item.done", output_index, item },
  ];
}

/** An item before its parts, and the events of its parts. Items without such parts are sent complete. */
function bodyOf(item: Fields, where: Fields): { begun: Fields; events: Event[] } {
  switch (item["type"]) {
    case "message":
      return {
        begun: { status: "in_progress", content: [] },
        events: partsOf(item["content"]).flatMap((part, content_index) =>
          partEvents(part, { ...where, content_index }),
        ),
      };
    case "reasoning":
      return {
        begun: { summary: [] },
        events: partsOf(item["summary"]).flatMap((part, summary_index) =>
          summaryEvents(part, { ...where, summary_index }),
        ),
      };
    case "function_call":
      return {
        begun: { status: "in_progress", arguments: "" },
        events: textEvents("function_call_arguments", where, { name: "arguments", text: item["arguments"] }),
      };
    case "custom_tool_call":
      return {
        begun: { status: "in_progress", input: "" },
        events: textEvents("custom_tool_call_input", where, { name: "input", text: item["input"] }),
      };
    default:
      return { begun: {}, events: [] };
  }
}

function partsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function partEvents(part: Fields, where: Fields): Event[] {
  const refusal = part["type"] === "refusal";
  const name = refusal ? "refusal" : "text";
  const begun = refusal ? { ...part, refusal: "" } : { ...part, text: "", annotations: [], logprobs: [] };
  const annotations = partsOf(part["annotations"]).map((annotation, annotation_index) => ({
    type: "response.output_text.annotation.added",
    ...where,
    annotation_index,
    annotation,
  }));
  const more = refusal ? {} : { logprobs: part["logprobs"] ?? [] };
  const [delta, done] = textEvents(refusal ? "refusal" : "output_text", where, { name, text: part[name], more });
  return [
    { type: "response.content_part.added", ...where, part: begun },
    ...(delta === undefined ? [] : [delta]),
    ...annotations,
    ...(done === undefined ? [] : [done]),
    { type: "response.content_part.done", ...where, part },
  ];
}

function summaryEvents(part: Fields, where: Fields): Event[] {
  return [
    { type: "response.reasoning_summary_part.added", ...where, part: { ...part, text: "" } },
    ...textEvents("reasoning_summary_text", where, { name: "text", text: part["text"] }),
    { type: "response.reasoning_summary_part.done", ...where, part },
  ];
}

/** One delta with the whole text, and the event that ends it. */
function textEvents(
  kind: string,
  where: Fields,
  { name, text, more = {} }: { name: string; text: unknown; more?: Fields },
): Event[] {
  return [
    { type: `response.${kind}.delta`, ...where, delta: text, ...more },
    { type: `response.${kind}.done`, ...where, [name]: text, ...more },
  ];
}
