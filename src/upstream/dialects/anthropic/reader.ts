// Reads Anthropic's stream into neutral events. The state is kept by block index, as blocks may interleave. Invalid frames and
// early ends become an error event. Whole answers are read by the same code.

import { lookUp } from "../../../base/look-up.ts";
import type { SseFrame } from "../../../base/sse.ts";
import type { AnswerFault, AnswerFaultCode } from "../../../chat/answer-fault.ts";
import type { ChatEvent, FinishReason } from "../../../chat/event.ts";
import { refusalEvents } from "../../../chat/refusal.ts";
import { ToldUsage } from "../../../chat/usage.ts";
import { statedSizes } from "../../context-counts.ts";
import type { EventReader, PlainReading } from "../../dialect.ts";
import { answerFault, type FaultText } from "../../fault-words.ts";
import { asList, asNumber, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { ANTHROPIC } from "./messages.ts";
import { AnthropicFigures } from "./usage.ts";

/** An open content block. */
interface Open {
  kind: "text" | "reasoning" | "tool" | "opaque";
  id: string;
  /** The block in the start frame, which may already contain the complete content. */
  first: Loose;
  /** The arguments or input that were streamed so far. */
  streamed: string;
  signature: string;
  citations: unknown[];
}

/** Maximum number of open blocks, which limits the memory that a hostile stream can use. No real answer has as many. */
const BLOCKS_OPEN_MAX = 1024;

/** Reads one answer. */
export class AnthropicReader implements EventReader {
  readonly #open = new Map<number, Open>();
  #nextId = 0;
  #started = false;
  #done = false;
  #calledTools = false;
  #rawReason: string | undefined;
  #stopSequence: string | undefined;
  /** Why the model refused to answer. */
  #explanation: string | undefined;
  readonly #figures = new AnthropicFigures();
  readonly #told = new ToldUsage();
  readonly plain: PlainReading = { textOf: deltaText, passed: () => undefined };

  push(frame: SseFrame, out: ChatEvent[]): void {
    if (this.#done || frame.data === "") return;
    const event = parseRecord(frame.data);
    if (event !== undefined) this.take(event, out);
    // A terminator of another protocol is ignored. Other data that cannot be parsed means that the stream is invalid.
    else if (frame.data !== "[DONE]")
      this.#fail("provider_stream_interrupted", "The provider sent a broken event.", out);
  }

  end(out: ChatEvent[]): void {
    if (this.#done) return;
    // `message_stop` may be missing; an answer with a stop reason is complete.
    if (this.#rawReason !== undefined) this.#finish(out);
    else this.#fail("provider_stream_interrupted", "The provider ended the answer early.", out);
  }

  /** Reads one parsed event of the stream. */
  take(event: Loose, out: ChatEvent[]): void {
    if (this.#done) return;
    switch (event["type"]) {
      case "message_start":
        this.#start(asRecord(event["message"]), out);
        break;
      case "content_block_start":
        this.#openBlock(asNumber(event["index"]) ?? -1, asRecord(event["content_block"]), out);
        break;
      case "content_block_delta":
        this.#delta(asNumber(event["index"]) ?? -1, asRecord(event["delta"]), out);
        break;
      case "content_block_stop":
        this.#close(asNumber(event["index"]) ?? -1, out);
        break;
      case "message_delta":
        this.#messageDelta(event);
        break;
      case "message_stop":
        this.#finish(out);
        break;
      case "error":
        this.#failWith(answerFault(anthropicError(event["error"])), out);
        break;
    }
  }

  #start(message: Loose, out: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const usage = this.#figures.addFirst(message["usage"]);
    this.#told.tell(usage && { ...usage, outputTokens: 0 }, this.#figures.merged);
    const id = asText(message["id"]);
    const model = asText(message["model"]);
    out.push({
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(usage === undefined ? {} : { usage }),
      ...(message["container"] == null ? {} : { raw: { container: message["container"] } }),
    });
  }

  #openBlock(index: number, block: Loose, out: ChatEvent[]): void {
    // An answer without its opening frame is read anyway, and a late opening frame is ignored.
    this.#started = true;
    // If a block with this index is still open, its stop was lost.
    this.#close(index, out);
    if (this.#open.size >= BLOCKS_OPEN_MAX) {
      this.#fail("provider_stream_interrupted", "The provider opened too many content blocks.", out);
      return;
    }
    const id = `b${this.#nextId++}`;
    const opened: Open = { kind: "opaque", id, first: block, streamed: "", signature: "", citations: [] };
    this.#open.set(index, opened);
    switch (block["type"]) {
      case "text": {
        opened.kind = "text";
        opened.citations.push(...asList(block["citations"]));
        out.push({ type: "text-start", choice: 0, id });
        const text = asText(block["text"]);
        if (text) out.push({ type: "text-delta", choice: 0, id, text });
        break;
      }
      case "thinking": {
        opened.kind = "reasoning";
        opened.signature = asText(block["signature"]) ?? "";
        out.push({ type: "reasoning-start", choice: 0, id });
        const text = asText(block["thinking"]);
        if (text) out.push({ type: "reasoning-delta", choice: 0, id, text });
        break;
      }
      case "redacted_thinking":
        opened.kind = "reasoning";
        out.push({ type: "reasoning-start", choice: 0, id });
        break;
      case "tool_use":
        opened.kind = "tool";
        this.#calledTools = true;
        out.push({
          type: "tool-start",
          choice: 0,
          id,
          callId: asText(block["id"]) ?? id,
          name: asText(block["name"]) ?? "",
          kind: "function",
        });
        break;
    }
  }

  #delta(index: number, delta: Loose, out: ChatEvent[]): void {
    let current = this.#open.get(index);
    if (current === undefined) {
      // Some compatible servers omit the start of text and thinking. A tool call without a start would have no name.
      const type =
        delta["type"] === "text_delta" ? "text" : delta["type"] === "thinking_delta" ? "thinking" : undefined;
      if (type === undefined) return;
      this.#openBlock(index, { type }, out);
      current = this.#open.get(index);
      if (current === undefined) return;
    }
    const { id, kind } = current;
    const text = asText(delta["text"]) ?? asText(delta["thinking"]) ?? asText(delta["partial_json"]) ?? "";
    switch (delta["type"]) {
      case "text_delta":
        if (kind === "text" && text !== "") out.push({ type: "text-delta", choice: 0, id, text });
        break;
      case "thinking_delta":
        if (kind === "reasoning" && text !== "") out.push({ type: "reasoning-delta", choice: 0, id, text });
        break;
      case "signature_delta":
        current.signature += asText(delta["signature"]) ?? "";
        break;
      case "citations_delta":
        current.citations.push(delta["citation"]);
        break;
      case "input_json_delta":
        if (text === "") break;
        // For a call it is enough to know whether something was streamed; the input of a server tool is needed in full.
        if (kind === "tool") {
          current.streamed = "y";
          out.push({ type: "tool-delta", choice: 0, id, text });
        } else current.streamed += text;
        break;
    }
  }

  #close(index: number, out: ChatEvent[]): void {
    const closing = this.#open.get(index);
    if (closing === undefined) return;
    this.#open.delete(index);
    const { id, first } = closing;
    switch (closing.kind) {
      case "text":
        out.push({
          type: "text-end",
          choice: 0,
          id,
          ...(closing.citations.length > 0 ? { annotations: closing.citations } : {}),
        });
        break;
      case "reasoning": {
        const redacted = asText(first["data"]);
        out.push({
          type: "reasoning-end",
          choice: 0,
          id,
          ...(closing.signature === "" ? {} : { signature: closing.signature }),
          ...(redacted === undefined ? {} : { redacted }),
          ...(closing.signature === "" && redacted === undefined ? {} : { origin: ANTHROPIC }),
        });
        break;
      }
      case "tool":
        // If the start frame contains the complete arguments as an object, they must not be lost (litellm#25321).
        if (closing.streamed === "") out.push({ type: "tool-delta", choice: 0, id, text: inputText(first["input"]) });
        out.push({ type: "tool-end", choice: 0, id });
        break;
      case "opaque": {
        const input = closing.streamed === "" ? undefined : parseRecord(closing.streamed);
        const value = input === undefined ? first : { ...first, input };
        out.push({ type: "opaque", choice: 0, origin: ANTHROPIC, value });
        break;
      }
    }
  }

  #messageDelta(event: Loose): void {
    const delta = asRecord(event["delta"]);
    this.#rawReason = asText(delta["stop_reason"]) ?? this.#rawReason;
    this.#stopSequence = asText(delta["stop_sequence"]) ?? this.#stopSequence;
    this.#explanation = asText(asRecord(delta["stop_details"])["explanation"]) ?? this.#explanation;
    this.#told.tell(this.#figures.add(event["usage"]), this.#figures.merged);
  }

  #finish(out: ChatEvent[]): void {
    for (const index of [...this.#open.keys()]) this.#close(index, out);
    this.#done = true;
    if (this.#rawReason === "refusal") out.push(...refusalEvents(0, `b${this.#nextId++}`, this.#explanation));
    const { usage } = this.#told;
    out.push({
      type: "finish",
      choice: 0,
      reason: finishReason(this.#rawReason, this.#calledTools),
      ...(this.#rawReason === undefined ? {} : { rawReason: this.#rawReason }),
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      ...(usage === undefined ? {} : { usage, rawUsage: this.#told.raw }),
    });
  }

  #fail(code: AnswerFaultCode, message: string, out: ChatEvent[]): void {
    this.#failWith({ code, message }, out);
  }

  #failWith(fault: AnswerFault, out: ChatEvent[]): void {
    this.#done = true;
    const { usage } = this.#told;
    out.push({ type: "error", ...fault, ...(usage === undefined ? {} : { usage }) });
  }
}

/** The piece of a text or of reasoning in an event that has nothing else. */
function deltaText(event: Loose): string | undefined {
  const delta = asRecord(event["delta"]);
  const isPiece = delta["type"] === "text_delta" || delta["type"] === "thinking_delta";
  if (event["type"] !== "content_block_delta" || !isPiece) return undefined;
  return asText(delta["text"]) ?? asText(delta["thinking"]);
}

function inputText(input: unknown): string {
  // LM Studio and others send the input as a string (litellm#25321).
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

/** The events of a whole answer. */
export function anthropicEvents(body: unknown): ChatEvent[] {
  const out: ChatEvent[] = [];
  const reader = new AnthropicReader();
  const message = asRecord(body);
  if (message["type"] === "error") {
    reader.take(message, out);
    return out;
  }
  if (!Array.isArray(message["content"])) {
    return [{ type: "error", code: "provider_unavailable", message: "The provider's answer is not a message." }];
  }
  reader.take({ type: "message_start", message }, out);
  asList(message["content"]).forEach((block, index) => {
    reader.take({ type: "content_block_start", index, content_block: block }, out);
    reader.take({ type: "content_block_stop", index }, out);
  });
  reader.take({ type: "message_delta", delta: message, usage: message["usage"] }, out);
  reader.take({ type: "message_stop" }, out);
  return out;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  max_tokens: "length",
  stop_sequence: "stop_sequence",
  tool_use: "tool_calls",
  pause_turn: "pause",
  compaction: "compaction",
  refusal: "refusal",
  model_context_window_exceeded: "context_window",
};

function finishReason(raw: string | undefined, calledTools: boolean): FinishReason {
  const reason = lookUp(REASONS, raw ?? "") ?? "unknown";
  // If the answer has calls, its stop reason is the one for calls, whatever the upstream said (bifrost#6123).
  return calledTools && (reason === "stop" || reason === "unknown") ? "tool_calls" : reason;
}

/** Reads an error object `{type,message,details}`. The type is a category; a code, if there is one, is in the details. */
export function anthropicError(value: unknown, otherwise = "The provider reported an error."): FaultText {
  const error = asRecord(value);
  const message = asText(error["message"]) || otherwise;
  const type = asText(error["type"]);
  const code = asText(asRecord(error["details"])["error_code"]);
  const param = paramOf(message);
  return {
    ...(code === undefined ? {} : { code }),
    message,
    ...(type === undefined ? {} : { type }),
    ...(param === null ? {} : { param }),
    ...statedSizes(error),
    ...(error["details"] == null ? {} : { details: error["details"] }),
  };
}

/** Anthropic writes the path of the parameter before the message: `messages.0.content: Field required`. */
function paramOf(message: string): string | null {
  const path = /^([a-z_]+(?:\.[a-z_]+|\.\d+)*): /.exec(message)?.[1];
  return path?.replace(/\.(\d+)/g, "[$1]") ?? null;
}
