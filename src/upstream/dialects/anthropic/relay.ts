// Relays Anthropic's stream. Only `message.id` and `message.model` change. Text and thinking frames are recognised by their
// beginning and pass unparsed; the arguments of tools are checked; an answer that breaks off ends with the protocol's error
// event.

import { spliceMembers } from "../../../base/json-splice.ts";
import { parseFrame, type SseFrame } from "../../../base/sse.ts";
import { type AnswerFault, type AnswerFaultCode, afterContent } from "../../../chat/answer-fault.ts";
import { ArgumentGuard } from "../../../chat/argument-guard.ts";
import type { Usage } from "../../../chat/event.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import type { FrameRelay, RelayIdentity } from "../../dialect.ts";
import { answerFault } from "../../fault-words.ts";
import type { OutputText } from "../../output-text.ts";
import { RelayedUsage } from "../../relayed-usage.ts";
import { asNumber, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { spliceInside, unescaped, withData } from "../relay-frames.ts";
import { anthropicError } from "./reader.ts";
import { AnthropicFigures, FINAL_USAGE, MESSAGE_USAGE, withoutCompactions } from "./usage.ts";

/** A call whose arguments are being streamed. */
interface GuardedCall {
  guard: ArgumentGuard;
  fed: boolean;
}

/** The members of a message that contain the gateway's id and model. */
export function answerNames(message: Loose, { id, model, keepsId }: RelayIdentity): { id?: string; model: string } {
  const own = asText(message["id"]);
  if (keepsId === undefined || own === undefined) return { id, model };
  keepsId(own);
  return { model };
}

/** Relays one answer. */
export class AnthropicRelay implements FrameRelay {
  readonly #identity: RelayIdentity;
  readonly #figures = new AnthropicFigures();
  readonly #usage: RelayedUsage;
  readonly #output: OutputText;
  readonly #calls = new Map<number, GuardedCall>();
  /** The open thinking blocks, with their signatures so far. */
  readonly #thinking = new Map<number, string>();
  /** The beginning of the current block's text frames, up to the text. It is learned from the first such frame. */
  #plain = "";
  #stopReason: string | undefined;
  #finished = false;
  #committed = false;
  #fault: AnswerFault | undefined;

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

  push(block: string): string {
    let out = "";
    let relayedTo = 0;
    let at = 0;
    while (at < block.length && this.#fault === undefined && !this.#finished) {
      const plain = this.#plain !== "" && block.startsWith(this.#plain, at);
      const stop = block.indexOf("\n\n", plain ? at + this.#plain.length : at);
      const end = stop < 0 ? block.length : stop + 2;
      if (!plain || !this.#passPlain(block, at + this.#plain.length, end)) {
        const frame = block.slice(at, end);
        const put = this.#frame(frame);
        if (put !== frame) {
          out += block.slice(relayedTo, at) + put;
          relayedTo = end;
        }
      }
      at = end;
    }
    // Nothing is relayed after an error or the answer's own end.
    return relayedTo === 0 && at === block.length ? block : out + block.slice(relayedTo, at);
  }

  end(): string {
    if (this.#fault !== undefined || this.#finished) return "";
    // `message_stop` may be missing; an answer with a stop reason is complete.
    if (this.#stopReason === undefined) {
      return this.#fail("provider_stream_interrupted", "The provider ended the answer early.");
    }
    this.#finished = true;
    return 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  }

  /**
   * Whether the text in a frame is followed only by the frame's regular end. A frame that was cut off by the end of the stream
   * must be examined.
   */
  #passPlain(block: string, from: number, end: number): boolean {
    let at = end - 3;
    let braces = 0;
    for (; at >= from; at--) {
      const code = block.charCodeAt(at);
      if (code === 125) braces++;
      else if (code !== 32) break;
    }
    if (at < from || braces < 2 || block.charCodeAt(at) !== 34 || block.charCodeAt(at - 1) === 92) return false;
    this.#output.add(unescaped(block.slice(from, at)));
    return true;
  }

  #frame(text: string): string {
    const frame = parseFrame(text.endsWith("\n\n") ? text.slice(0, -2) : text);
    if (frame === undefined) return text;
    const event = parseRecord(frame.data);
    if (event === undefined) {
      if (frame.data === "[DONE]") return text;
      // A stream that was cut off may leave an event with empty data.
      if (frame.data.trim() === "") return "";
      return this.#fail("provider_stream_interrupted", "The provider sent a broken event.");
    }
    return this.#event(event, frame, text);
  }

  #event(event: Loose, frame: SseFrame, text: string): string {
    switch (event["type"]) {
      case "message_start": {
        const message = asRecord(event["message"]);
        const told = this.#figures.addFirst(message["usage"]);
        this.#usage.tell(told && { ...told, outputTokens: 0 });
        // The cost is known at the end.
        const { costUsd: _early, ...settled } = this.#identity.settle(told, this.#output);
        const usage = shownUsage(message["usage"], settled, MESSAGE_USAGE);
        const ours = { ...answerNames(message, this.#identity), ...(usage === message["usage"] ? {} : { usage }) };
        return withData(text, frame.data, spliceInside(frame.data, "message", ours));
      }
      case "content_block_start":
        this.#committed = true;
        this.#openBlock(asNumber(event["index"]) ?? -1, asRecord(event["content_block"]));
        return text;
      case "content_block_delta":
        this.#committed = true;
        return this.#delta(asNumber(event["index"]) ?? -1, asRecord(event["delta"]), text);
      case "content_block_stop":
        this.#endThinking(asNumber(event["index"]) ?? -1);
        return this.#endCall(asNumber(event["index"]) ?? -1, text);
      case "message_delta":
        this.#stopReason = asText(asRecord(event["delta"])["stop_reason"]) ?? this.#stopReason;
        return this.#endCalls(this.#finalUsage(event["usage"], frame, text));
      case "message_stop": {
        const put = this.#endCalls(text);
        this.#finished = this.#fault === undefined;
        return put;
      }
      case "error":
        return this.#failWith(answerFault(anthropicError(event["error"])), asText(asRecord(event["error"])["type"]));
      default:
        return text;
    }
  }

  #openBlock(index: number, block: Loose): void {
    this.#output.add(asText(block["text"]) ?? asText(block["thinking"]) ?? "");
    switch (block["type"]) {
      case "tool_use":
        this.#output.add(asText(block["name"]) ?? "");
        this.#calls.set(index, { guard: new ArgumentGuard(), fed: false });
        break;
      case "thinking":
        this.#thinking.set(index, asText(block["signature"]) ?? "");
        break;
      case "redacted_thinking":
        this.#identity.sealed?.(asText(block["data"]));
        break;
    }
  }

  #endThinking(index: number): void {
    const signature = this.#thinking.get(index);
    if (signature === undefined) return;
    this.#thinking.delete(index);
    this.#identity.sealed?.(signature === "" ? undefined : signature);
  }

  #delta(index: number, delta: Loose, text: string): string {
    const words = asText(delta["text"]) ?? asText(delta["thinking"]) ?? asText(delta["partial_json"]);
    if (words === undefined) {
      const before = this.#thinking.get(index);
      if (before !== undefined) this.#thinking.set(index, before + (asText(delta["signature"]) ?? ""));
      return text;
    }
    this.#output.add(words);
    if (delta["type"] !== "input_json_delta") {
      this.#learn(text);
      return text;
    }
    const call = this.#calls.get(index);
    if (call === undefined) return text;
    call.fed = true;
    return call.guard.push(words) ? text : "";
  }

  /** Learns the beginning of text frames if it is unambiguous. */
  #learn(text: string): void {
    const key = /"(?:text|thinking)"\s*:\s*"/.exec(text);
    if (key === null) return;
    const head = text.slice(0, key.index + key[0].length);
    this.#plain = /"(?:text|thinking)_delta"/.test(head) ? head : "";
  }

  #endCall(index: number, text: string): string {
    const call = this.#calls.get(index);
    this.#calls.delete(index);
    if (call?.fed !== true) return text;
    const rest = call.guard.end();
    if (rest === "") return text;
    if (rest === undefined) {
      return this.#fail("tool_arguments_invalid", "The model called a tool with arguments that are not valid JSON.");
    }
    const delta = { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: rest } };
    return `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n${text}`;
  }

  /** Ends the calls whose own end was lost, when the answer ends. */
  #endCalls(text: string): string {
    let before = "";
    for (const index of [...this.#calls.keys()]) {
      before += this.#endCall(index, "");
      if (this.#fault !== undefined) return before;
    }
    return before + text;
  }

  /** The closing frame with the settled usage. */
  #finalUsage(raw: unknown, { data }: SseFrame, text: string): string {
    this.#usage.tell(this.#figures.add(raw));
    // There may be several such frames, of which the last one has the reason for the end.
    if (this.#stopReason === undefined) return text;
    const usage = shownUsage(raw, withoutCompactions(this.#usage.settle(), raw), FINAL_USAGE);
    return usage === raw ? text : withData(text, data, spliceMembers(data, { usage }));
  }

  #fail(code: AnswerFaultCode, message: string): string {
    return this.#failWith({ code, message });
  }

  /** The error event. Its type is the provider's own if that is a plain word, since clients of this protocol use it. */
  #failWith(fault: AnswerFault, word = ""): string {
    this.#fault = afterContent(fault, this.#committed);
    const { requestId: request_id } = this.#identity;
    const { type, ...told } = this.#identity.tell(this.#fault);
    const error = { type: /^[a-z_]{1,64}$/.test(word) ? word : type, ...told, request_id };
    return `event: error\ndata: ${JSON.stringify({ type: "error", error, request_id })}\n\n`;
  }
}
