// The output items of one streamed Responses answer, converted to neutral blocks. Content that only arrives at an item's end
// (arguments, text, summaries) is emitted there, so that a stream without deltas gives the same blocks.

import type { ChatEvent } from "../../../chat/event.ts";
import { asList, asNumber, asRecord, asText, type Loose } from "../loose.ts";
import { RESPONSES } from "./input.ts";

/** A content part of a message. */
interface Part {
  id: string;
  streamed: number;
  open: boolean;
  annotations: unknown[];
}

/** Creates the ids of blocks and takes the events. */
export interface Sink {
  out: ChatEvent[];
  nextId(): string;
}

/** An output item. */
export interface OutputItem {
  /** Takes text of a part, arguments, input or summary. `index` is the content index or the summary index. */
  delta(kind: DeltaKind, text: string, index: number, sink: Sink, logprobs?: readonly unknown[]): void;
  /** Takes the complete text of earlier deltas and emits the part that is missing. */
  whole(kind: DeltaKind, text: string, index: number, sink: Sink): void;
  /** So many characters more of the last text became events elsewhere. */
  passed?(chars: number): void;
  annotate?(index: number, annotation: unknown): void;
  /** Takes the finished item and closes what is open. */
  end(item: Loose, sink: Sink): void;
}

/** The kind of text in a delta. */
export type DeltaKind = "text" | "refusal" | "arguments" | "summary" | "reasoning";

/** Maximum number of parts of an item, which limits the memory that a hostile stream can use. No real item has as many. */
const PARTS_MAX = 256;

/** Creates the item for the type in `response.output_item.added`. */
export function openItem(item: Loose, sink: Sink): OutputItem {
  switch (item["type"]) {
    case "message":
      return new MessageItem();
    case "reasoning":
      return new ReasoningItem(item, sink);
    case "function_call":
    case "custom_tool_call":
      return new CallItem(item, sink);
    default:
      return new OtherItem();
  }
}

class MessageItem implements OutputItem {
  readonly #parts = new Map<number, Part>();
  #last: Part | undefined;

  delta(kind: DeltaKind, text: string, index: number, sink: Sink, logprobs: readonly unknown[] = []): void {
    const part = this.#part(kind, index, sink);
    if (part === undefined || !part.open || text === "") return;
    this.#last = part;
    part.streamed += text.length;
    sink.out.push({
      type: "text-delta",
      choice: 0,
      id: part.id,
      text,
      ...(logprobs.length > 0 ? { logprobs: [...logprobs] } : {}),
    });
  }

  passed(chars: number): void {
    if (this.#last !== undefined) this.#last.streamed += chars;
  }

  whole(kind: DeltaKind, text: string, index: number, sink: Sink, logprobs: readonly unknown[] = []): void {
    const streamed = this.#parts.get(index)?.streamed ?? 0;
    if (text.length > streamed) this.delta(kind, text.slice(streamed), index, sink, streamed === 0 ? logprobs : []);
  }

  annotate(index: number, annotation: unknown): void {
    const part = this.#parts.get(index);
    if (part !== undefined && part.annotations.length < PARTS_MAX) part.annotations.push(annotation);
  }

  end(item: Loose, sink: Sink): void {
    asList(item["content"]).forEach((value, index) => {
      const content = asRecord(value);
      const refusal = asText(content["refusal"]);
      const text = refusal ?? asText(content["text"]);
      if (text === undefined) return;
      const kind = refusal === undefined ? "text" : "refusal";
      this.#part(kind, index, sink);
      this.whole(kind, text, index, sink, asList(content["logprobs"]));
      const annotations = asList(content["annotations"]);
      const part = this.#parts.get(index);
      if (part !== undefined && annotations.length > 0) part.annotations = [...annotations];
    });
    for (const part of this.#parts.values()) {
      if (!part.open) continue;
      part.open = false;
      const annotations = part.annotations.length > 0 ? { annotations: part.annotations } : {};
      sink.out.push({ type: "text-end", choice: 0, id: part.id, ...annotations });
    }
  }

  #part(kind: DeltaKind, index: number, sink: Sink): Part | undefined {
    const known = this.#parts.get(index);
    if (known !== undefined || this.#parts.size >= PARTS_MAX) return known;
    const part: Part = { id: sink.nextId(), streamed: 0, open: true, annotations: [] };
    this.#parts.set(index, part);
    sink.out.push({ type: "text-start", choice: 0, id: part.id, ...(kind === "refusal" ? { refusal: true } : {}) });
    return part;
  }
}

class ReasoningItem implements OutputItem {
  readonly #id: string;
  readonly #summaries = new Map<number, number>();
  #streamed = 0;

  constructor(item: Loose, sink: Sink) {
    this.#id = sink.nextId();
    const itemId = asText(item["id"]);
    const named = itemId ? { itemId } : {};
    sink.out.push({ type: "reasoning-start", choice: 0, id: this.#id, ...named });
  }

  delta(kind: DeltaKind, text: string, index: number, sink: Sink): void {
    if (text === "") return;
    const event = { type: "reasoning-delta", choice: 0, id: this.#id, text } as const;
    if (kind === "summary") {
      if (!this.#summaries.has(index) && this.#summaries.size >= PARTS_MAX) return;
      this.#summaries.set(index, (this.#summaries.get(index) ?? 0) + text.length);
      sink.out.push({ ...event, summaryIndex: index });
    } else {
      this.#streamed += text.length;
      sink.out.push(event);
    }
  }

  whole(kind: DeltaKind, text: string, index: number, sink: Sink): void {
    if (kind !== "summary") return;
    const streamed = this.#summaries.get(index) ?? 0;
    if (text.length > streamed) this.delta(kind, text.slice(streamed), index, sink);
  }

  end(item: Loose, sink: Sink): void {
    asList(item["summary"]).forEach((part, index) => {
      this.whole("summary", asText(asRecord(part)["text"]) ?? "", index, sink);
    });
    const text = asList(item["content"])
      .map((part) => asText(asRecord(part)["text"]) ?? "")
      .join("");
    if (text.length > this.#streamed) this.delta("reasoning", text.slice(this.#streamed), 0, sink);
    const encrypted = asText(item["encrypted_content"]);
    const opaque = encrypted === undefined ? {} : { encrypted };
    sink.out.push({ type: "reasoning-end", choice: 0, id: this.#id, ...opaque, origin: RESPONSES });
  }
}

class CallItem implements OutputItem {
  readonly #id: string;
  #streamed = 0;

  constructor(item: Loose, sink: Sink) {
    this.#id = sink.nextId();
    const itemId = asText(item["id"]);
    const namespace = asText(item["namespace"]);
    sink.out.push({
      type: "tool-start",
      choice: 0,
      id: this.#id,
      callId: asText(item["call_id"]) || itemId || this.#id,
      name: asText(item["name"]) ?? "",
      kind: item["type"] === "custom_tool_call" ? "custom" : "function",
      ...(namespace ? { namespace } : {}),
      ...(itemId ? { itemId } : {}),
    });
  }

  delta(_kind: DeltaKind, text: string, _index: number, sink: Sink): void {
    if (text === "") return;
    this.#streamed += text.length;
    sink.out.push({ type: "tool-delta", choice: 0, id: this.#id, text });
  }

  whole(kind: DeltaKind, text: string, index: number, sink: Sink): void {
    if (text.length > this.#streamed) this.delta(kind, text.slice(this.#streamed), index, sink);
  }

  end(item: Loose, sink: Sink): void {
    const value = item["type"] === "custom_tool_call" ? item["input"] : item["arguments"];
    this.whole("arguments", argumentText(value), 0, sink);
    sink.out.push({ type: "tool-end", choice: 0, id: this.#id });
  }
}

/** The arguments as text, even if a server sends an object. */
function argumentText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** An item that only this protocol has, such as a web search or a computer call. It is emitted at its end. */
class OtherItem implements OutputItem {
  delta(): void {}
  whole(): void {}
  end(item: Loose, sink: Sink): void {
    const { type, result: data, output_format: format } = item;
    if (type === "image_generation_call" && typeof data === "string" && data !== "") {
      const mediaType = `image/${typeof format === "string" ? format : "png"}`;
      const source = { kind: "base64" as const, mediaType, data };
      sink.out.push({ type: "image", choice: 0, source, origin: RESPONSES, value: item });
      return;
    }
    sink.out.push({ type: "opaque", choice: 0, origin: RESPONSES, value: item });
  }
}

/** The index of an event; 0 if it has none. */
export function indexIn(event: Loose, name: "content_index" | "summary_index"): number {
  const index = asNumber(event[name]);
  return index !== undefined && Number.isInteger(index) && index >= 0 ? index : 0;
}
