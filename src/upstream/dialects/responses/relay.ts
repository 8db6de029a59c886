// Relays the Responses stream. Only `response.id` and `response.model` change. Text frames are recognised by their event line and
// pass unparsed; the arguments of calls are checked; an answer that breaks off ends with `response.failed`.

import { editJson, editValue } from "../../../base/json-edit.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { parseFrame, type SseFrame } from "../../../base/sse.ts";
import { type AnswerFault, type AnswerFaultCode, afterContent } from "../../../chat/answer-fault.ts";
import type { Usage } from "../../../chat/event.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import { isSaneUsage } from "../../../chat/usage.ts";
import type { FrameRelay, RelayIdentity } from "../../dialect.ts";
import { isPicture, type OutputText } from "../../output-text.ts";
import { RelayedUsage } from "../../relayed-usage.ts";
import { asNumber, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { spliceInside, unescaped, withData } from "../relay-frames.ts";
import { CallGuards } from "./guards.ts";
import { hidingEdits, holdsEncrypted } from "./hidden.ts";
import { RESPONSES_USAGE, removedReasoning, responsesError, responsesUsage } from "./reader.ts";

/** The event lines of frames that only contain text, so that their data need not be parsed. */
const PLAIN = [
  "event: response.output_text.delta\ndata: ",
  "event: response.reasoning_summary_text.delta\ndata: ",
  "event: response.reasoning_text.delta\ndata: ",
];

/** Relays one answer. */
export class ResponsesRelay implements FrameRelay {
  readonly #identity: RelayIdentity;
  readonly #output: OutputText;
  readonly #usage: RelayedUsage;
  readonly #guards = new CallGuards();
  #response: Loose = {};
  #sequence = -1;
  /** The last frame that passed unparsed. Its sequence number is only read if it is needed. */
  #lastPlain: { block: string; at: number } | undefined;
  /** The number of inserted frames, by which later sequence numbers increase. */
  #inserted = 0;
  #finished = false;
  #ended = false;
  #committed = false;
  #fault: AnswerFault | undefined;
  #answer: Loose | undefined;

  constructor(identity: RelayIdentity) {
    this.#identity = identity;
    this.#usage = new RelayedUsage(identity);
    this.#output = this.#usage.output;
  }

  get finished(): boolean {
    return this.#finished;
  }
  get committed(): boolean {
    return this.#committed;
  }
  get fault(): AnswerFault | undefined {
    return this.#fault;
  }
  get usage(): Usage | undefined {
    return this.#usage.spent;
  }
  get output(): OutputText {
    return this.#output;
  }
  get answer(): Loose | undefined {
    return this.#answer;
  }

  get reasoningRemoved(): number {
    return removedReasoning(this.#answer ?? {});
  }

  push(block: string): string {
    let out = "";
    let relayedTo = 0;
    let at = 0;
    // After an error or the answer's own end, nothing is relayed, since neither can be taken back.
    while (at < block.length && this.#fault === undefined && !this.#finished) {
      const stop = block.indexOf("\n\n", at);
      const end = stop < 0 ? block.length : stop + 2;
      if (!this.#passPlain(block, at, end)) {
        const frame = block.slice(at, end);
        const put = this.#frame(frame);
        if (put !== frame) {
          out += block.slice(relayedTo, at) + put;
          relayedTo = end;
        }
      }
      at = end;
    }
    return relayedTo === 0 && at === block.length ? block : out + block.slice(relayedTo, at);
  }

  end(): string {
    if (this.#ended || this.#fault !== undefined) return "";
    if (!this.#finished) return this.#fail("provider_stream_interrupted", "The provider ended the answer early.");
    this.#ended = true;
    return "data: [DONE]\n\n";
  }

  /** Whether the frame is a complete text frame, which then passes unparsed. */
  #passPlain(block: string, at: number, end: number): boolean {
    if (this.#inserted > 0 || !this.#committed || !isPlain(block, at)) return false;
    const key = block.indexOf('"delta":', at);
    if (key < 0 || key >= end) return false;
    const open = block.indexOf('"', key + 8);
    let close = block.indexOf('"', open + 1);
    while (close > 0 && isEscaped(block, close)) close = block.indexOf('"', close + 1);
    // A frame that was cut off by the end of the stream must be examined. With nested members, a brace at the end proves nothing.
    if (open < 0 || close < 0 || close >= end || block.charCodeAt(end - 3) !== 125) return false;
    if (block.slice(close, end).includes("[{")) return false;
    this.#output.add(unescaped(block.slice(open + 1, close)));
    this.#lastPlain = { block, at };
    return true;
  }

  #frame(text: string): string {
    const frame = parseFrame(text.endsWith("\n\n") ? text.slice(0, -2) : text);
    if (frame === undefined) return text;
    // The gateway sends the terminator itself, once and last. A stream that was cut off may leave an event with empty data.
    if (frame.data === "[DONE]" || frame.data.trim() === "") return "";
    const event = parseRecord(frame.data);
    if (event === undefined) {
      return frame.data === "" ? text : this.#fail("provider_stream_interrupted", "The provider sent a broken event.");
    }
    const put = this.#event(event, asText(event["type"]) ?? frame.event ?? "", { frame, text });
    this.#lastPlain = undefined;
    this.#sequence = (asNumber(event["sequence_number"]) ?? this.#sequence + 1) + this.#inserted;
    return put;
  }

  #event(event: Loose, type: string, was: { frame: SseFrame; text: string }): string {
    switch (type) {
      case "response.output_item.added":
      case "response.output_item.done":
        this.#committed = true;
        return this.#item(event, type, was);
      case "response.function_call_arguments.delta":
        this.#output.add(asText(event["delta"]) ?? "");
        return this.#guards.push(event) ? this.#pass(event, was) : "";
      case "response.function_call_arguments.done":
        return this.#argumentsDone(event, was);
      case "response.failed":
        return this.#failed(asRecord(event["response"]));
      case "error":
        return this.#failed({ error: event["error"] ?? event });
      case "response.completed":
      case "response.incomplete":
        this.#committed = true;
        this.#finished = true;
        break;
    }
    if (event["response"] !== undefined) return this.#envelope(event, was);
    if (type.endsWith(".delta")) {
      this.#committed = true;
      this.#output.add(asText(event["delta"]) ?? "");
    }
    return this.#pass(event, was);
  }

  /** Handles events with the complete response: created, in_progress, queued, completed, incomplete. */
  #envelope(event: Loose, was: { frame: SseFrame; text: string }): string {
    const response = asRecord(event["response"]);
    this.#response = response;
    const shown = this.#shownUsage(response);
    const output = this.#guards.mendedOutput(response["output"]);
    if (output === "broken") return this.#failArguments();
    const { id, model, echo } = this.#identity;
    const ours = { id, model, ...echo, ...shown, ...(output === undefined ? {} : { output }) };
    if (this.#finished) this.#answer = { ...response, ...ours };
    const data = spliceInside(was.frame.data, "response", ours);
    if (this.#identity.hidesEncrypted !== true) return this.#pass(event, was, data);
    return this.#pass(event, was, editJson(data, hidingEdits(response["output"], ["response", "output"])));
  }

  #item(event: Loose, type: string, was: { frame: SseFrame; text: string }): string {
    const item = asRecord(event["item"]);
    if (type.endsWith(".done") && isPicture(item)) this.#output.addPictures(1);
    if (type.endsWith(".added")) this.#output.add(asText(item["name"]) ?? "");
    if (item["type"] === "reasoning" && type.endsWith(".done")) {
      noteSeal(item, this.#response["store"] !== false, this.#identity);
    }
    if (this.#identity.hidesEncrypted === true && holdsEncrypted(item)) {
      return this.#pass(event, was, editJson(was.frame.data, [{ path: ["item", "encrypted_content"] }]));
    }
    if (item["type"] !== "function_call") return this.#pass(event, was);
    if (type.endsWith(".added")) {
      this.#guards.open(event, item);
      return this.#pass(event, was);
    }
    const repaired = this.#guards.repairedItem(item);
    if (repaired === undefined) return this.#failArguments();
    const data =
      repaired === item ? was.frame.data : spliceInside(was.frame.data, "item", { arguments: repaired["arguments"] });
    return this.#pass(event, was, data);
  }

  #argumentsDone(event: Loose, was: { frame: SseFrame; text: string }): string {
    const ending = this.#guards.end(event);
    if (ending === undefined) return this.#failArguments();
    const { rest, whole } = ending;
    let before = "";
    if (rest !== "") {
      const { item_id, output_index } = event;
      const type = "response.function_call_arguments.delta";
      const sequence_number = (asNumber(event["sequence_number"]) ?? this.#sequence + 1) + this.#inserted;
      this.#inserted++;
      before = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, item_id, output_index, delta: rest })}\n\n`;
    }
    const data = whole === event["arguments"] ? was.frame.data : spliceMembers(was.frame.data, { arguments: whole });
    return before + this.#pass(event, was, data);
  }

  #pass(event: Loose, was: { frame: SseFrame; text: string }, data = was.frame.data): string {
    const number = asNumber(event["sequence_number"]);
    const moved = this.#inserted > 0 && number !== undefined ? { sequence_number: number + this.#inserted } : undefined;
    return withData(was.text, was.frame.data, moved === undefined ? data : spliceMembers(data, moved));
  }

  /** The member with the usage, if it must change: the settled figures at the end, and before that none that are invalid. */
  #shownUsage(response: Loose): Loose {
    const raw = response["usage"];
    this.#usage.tell(responsesUsage(raw, response), raw);
    if (!this.#finished) return isSaneUsage(raw) ? {} : { usage: null };
    const usage = shownUsage(raw, this.#usage.settle(), RESPONSES_USAGE);
    return usage === raw ? {} : { usage };
  }

  /** The usage of an answer that failed, if the upstream reported any. */
  #spentUsage(): Loose {
    const { spent } = this.#usage;
    return spent === undefined ? {} : { usage: shownUsage(this.#response["usage"], spent, RESPONSES_USAGE) };
  }

  #lastSequence(): number {
    if (this.#lastPlain === undefined) return this.#sequence;
    const { block, at } = this.#lastPlain;
    const end = block.indexOf("\n\n", at);
    const event = parseRecord(parseFrame(block.slice(at, end < 0 ? block.length : end))?.data ?? "");
    return asNumber(event?.["sequence_number"]) ?? this.#sequence;
  }

  /** The upstream's own failure in the protocol's format, with the gateway's request id. */
  #failed(response: Loose): string {
    this.#response = { ...this.#response, ...response, ...this.#shownUsage(response) };
    return this.#failWith(responsesError(response["error"]));
  }

  #failArguments(): string {
    return this.#fail("tool_arguments_invalid", "The model called a tool with arguments that are not valid JSON.");
  }

  #fail(code: AnswerFaultCode, message: string): string {
    return this.#failWith({ code, message });
  }

  #failWith(fault: AnswerFault): string {
    this.#fault = afterContent(fault, this.#committed);
    const told = this.#identity.tell(this.#fault);
    const { code, message } = told;
    this.#finished = false;
    const { id, model, requestId: request_id, createdSeconds, hidesEncrypted } = this.#identity;
    const type = "response.failed";
    const error = { ...told, request_id };
    const response = {
      object: "response",
      created_at: createdSeconds,
      output: [],
      ...editValue(this.#response, hidesEncrypted === true ? hidingEdits(this.#response["output"], ["output"]) : []),
      id,
      model,
      status: "failed",
      error: { code, message },
      ...this.#spentUsage(),
    };
    const failed = { type, sequence_number: this.#lastSequence() + 1, response, error, request_id };
    return `event: ${type}\ndata: ${JSON.stringify(failed)}\n\n`;
  }
}

/** Reports what the client may return: the encrypted content, or the id of reasoning that the upstream stores. */
export function noteSeal(item: Loose, stored: boolean, identity: RelayIdentity): void {
  const shown = identity.hidesEncrypted === true ? undefined : asText(item["encrypted_content"]);
  const value = shown || (stored ? asText(item["id"]) : undefined);
  if (value) identity.sealed?.(value);
}

function isPlain(block: string, at: number): boolean {
  return PLAIN.some((head) => block.startsWith(head, at));
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === 92) slashes++;
  return slashes % 2 === 1;
}
