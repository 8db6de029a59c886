// Writes streams of the responses format. Sequence numbers increase, each item has one output index and a stable id, and its
// events come in order: added, its parts and deltas, done. Interleaved blocks become interleaved items.

import { ERRORS } from "../../base/errors.ts";
import type {
  ChatEvent,
  CitationEvent,
  FinishEvent,
  ReasoningDelta,
  ReasoningEnd,
  ReasoningStart,
  ServerToolEnd,
  ServerToolResult,
  ServerToolStart,
  TextDelta,
  TextEnd,
  TextStart,
  ToolEnd,
  ToolStart,
} from "../../chat/event.ts";
import type { Fields } from "../check.ts";
import type { AnswerContext, EventWriter, StreamError } from "../format.ts";
import { sealedCall } from "../seal-envelopes.ts";
import { responsesTools } from "./lazy-tools.ts";
import type { OpenBlock, OpenMessage } from "./open-blocks.ts";
import type { ServerItems } from "./server-tools.ts";
import {
  annotationsOf,
  callItem,
  callSignatureItem,
  encryptedOf,
  imageItem,
  incompleteReason,
  itemId,
  type Progress,
  ResponseObject,
  type ResponsesItem,
  textPart,
} from "./shape.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** The writer of one streamed response. */
export class ResponsesWriter implements EventWriter {
  readonly #exchange: AnswerContext;
  readonly #response: ResponseObject;
  /** The prefix of an item event's name in its data. */
  readonly #prefix: string;
  readonly #open = new Map<string, OpenBlock>();
  /** The items by output index; an open item is set when it is done. */
  readonly #output: (ResponsesItem | undefined)[] = [];
  #serverItems: ServerItems | undefined;
  #sequence = 0;
  #started = false;
  #finished = false;
  #failed = false;
  #refused = false;
  /** The newest item, if it is a message to which parts may be added. */
  #message: OpenMessage | undefined;
  #final: Progress | undefined;

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
    this.#response = new ResponseObject(exchange);
    this.#prefix = exchange.shortEventTypes === true ? "" : "response.";
  }

  push(event: ChatEvent): string {
    if (event.type === "text-delta") return this.#textDelta(event);
    if (this.#failed) return "";
    if (event.type === "error") {
      const { code, message } = event;
      const type = ERRORS[code].type;
      return this.fail({ message, type, code, param: null, request_id: this.#exchange.requestId });
    }
    // The format has one answer per request, so other choices are dropped.
    if (event.type !== "start" && event.choice !== 0) return "";
    return this.#start() + this.#write(event);
  }

  get answer(): ResponsesItem | undefined {
    return this.#final === undefined ? undefined : this.#response.value(this.#final);
  }

  end(): string {
    return this.#failed ? "" : "data: [DONE]\n\n";
  }

  fail(error: StreamError): string {
    this.#failed = true;
    const output = this.#output.filter((item) => item !== undefined);
    const response = this.#response.text({ status: "failed", output, error: { ...error } });
    return this.#lifecycle("response.failed", `"response":${response},"error":${JSON.stringify(error)}`);
  }

  #start(): string {
    if (this.#started) return "";
    this.#started = true;
    const response = `"response":${this.#response.text({ status: "in_progress", output: [] })}`;
    return this.#lifecycle("response.created", response) + this.#lifecycle("response.in_progress", response);
  }

  #write(event: Exclude<ChatEvent, TextDelta | { type: "error" }>): string {
    switch (event.type) {
      case "start":
        return "";
      case "text-start":
        return this.#textStart(event);
      case "text-end":
        return this.#textEnd(event);
      case "reasoning-start":
        return this.#reasoningStart(event);
      case "reasoning-delta":
        return this.#reasoningDelta(event);
      case "reasoning-end":
        return this.#reasoningEnd(event);
      case "tool-start":
        return this.#toolStart(event);
      case "tool-delta": {
        const open = this.#open.get(event.id);
        if (open?.type !== "tool" || event.text === "") return "";
        open.text += event.text;
        return `${open.head}${JSON.stringify(event.text)},"sequence_number":${this.#sequence++}}\n\n`;
      }
      case "tool-end":
        return this.#toolEnd(event);
      case "opaque":
        return event.origin === RESPONSES_ORIGIN ? this.#whole({ ...event.value }) : "";
      case "image":
        return this.#whole(imageItem(event, itemId("image_generation_call", this.#exchange, this.#output.length)));
      case "server-tool-start":
      case "server-tool-end":
      case "server-tool-result":
        return this.#serverItem(event);
      case "citation":
        return this.#citation(event);
      case "finish":
        return this.#finish(event);
    }
  }

  #finish(event: FinishEvent): string {
    if (this.#finished) return "";
    this.#finished = true;
    let out = "";
    // A block that is still open ends here, since clients wait for every done.
    for (const [id, open] of [...this.#open]) {
      if (open.type === "text") out += this.#textEnd({ type: "text-end", choice: 0, id });
      else if (open.type === "tool") out += this.#toolEnd({ type: "tool-end", choice: 0, id });
      else out += this.#reasoningEnd({ type: "reasoning-end", choice: 0, id });
    }
    out += this.#settleMessage() + (this.#serverItems?.end() ?? "");
    const reason = incompleteReason(event.reason, this.#refused);
    const status = reason === undefined ? "completed" : "incomplete";
    const output = this.#output.filter((item) => item !== undefined);
    this.#final = { status, output, usage: event.usage, incompleteReason: reason };
    const response = this.#response.text(this.#final);
    return out + this.#lifecycle(`response.${status}`, `"response":${response}`);
  }

  #textStart(event: TextStart): string {
    const refusal = event.refusal === true;
    if (refusal) this.#refused = true;
    let out = "";
    let message = this.#message;
    if (message === undefined) {
      const index = this.#output.length;
      message = { id: itemId("message", this.#exchange, index), index, content: [], openParts: 0, done: false };
      out = this.#add({ id: message.id, type: "message", status: "in_progress", role: "assistant", content: [] });
      this.#message = message;
    }
    const part = message.content.length;
    const first = textPart("", refusal, {});
    message.content.push(first);
    message.openParts++;
    const where = { item_id: message.id, output_index: message.index, content_index: part };
    const head = this.#head(refusal ? "refusal.delta" : "output_text.delta", where);
    this.#open.set(event.id, { type: "text", message, part, refusal, text: "", logprobs: [], head });
    return out + this.#item("content_part.added", { ...where, part: first });
  }

  /** Writes a text delta. This runs for every token. */
  #textDelta(event: TextDelta): string {
    const block = this.#open.get(event.id);
    if (block?.type !== "text" || event.text === "" || this.#failed) return "";
    block.text += event.text;
    let logprobs = "";
    if (!block.refusal) {
      logprobs = ',"logprobs":[]';
      if (event.logprobs !== undefined) {
        block.logprobs.push(...event.logprobs);
        logprobs = `,"logprobs":${JSON.stringify(event.logprobs)}`;
      }
    }
    return `${block.head}${JSON.stringify(event.text)}${logprobs},"sequence_number":${this.#sequence++}}\n\n`;
  }

  #textEnd(event: TextEnd): string {
    const open = this.#open.get(event.id);
    if (open?.type !== "text") return "";
    this.#open.delete(event.id);
    const { message, part, refusal, text, logprobs, annotations: own = [] } = open;
    const where = { item_id: message.id, output_index: message.index, content_index: part };
    const annotations = refusal ? [] : [...own, ...annotationsOf(event.annotations)];
    let out = "";
    annotations.forEach((annotation, annotation_index) => {
      if (annotation_index < own.length) return;
      out += this.#item("output_text.annotation.added", { ...where, annotation_index, annotation });
    });
    const whole = textPart(text, refusal, { annotations, logprobs });
    message.content[part] = whole;
    message.openParts--;
    out += refusal
      ? this.#item("refusal.done", { ...where, refusal: text })
      : this.#item("output_text.done", { ...where, text, logprobs });
    out += this.#item("content_part.done", { ...where, part: whole });
    // The newest message stays open, since the next block may be another part of it.
    return message === this.#message ? out : out + this.#messageDone(message);
  }

  #citation(event: CitationEvent): string {
    const open = this.#open.get(event.id);
    if (open?.type !== "text" || open.refusal) return "";
    const annotation = responsesTools().urlCitation(event.citation);
    open.annotations ??= [];
    const annotation_index = open.annotations.push(annotation) - 1;
    const where = { item_id: open.message.id, output_index: open.message.index, content_index: open.part };
    return this.#item("output_text.annotation.added", { ...where, annotation_index, annotation });
  }

  #messageDone(message: OpenMessage): string {
    if (message.done || message.openParts > 0) return "";
    message.done = true;
    const { id, index, content } = message;
    return this.#done(index, { id, type: "message", status: "completed", role: "assistant", content });
  }

  /** Ends the newest message, as no further part can follow in it. */
  #settleMessage(): string {
    const message = this.#message;
    this.#message = undefined;
    return message === undefined ? "" : this.#messageDone(message);
  }

  #reasoningStart(event: ReasoningStart): string {
    const settled = this.#settleMessage();
    const index = this.#output.length;
    const id = event.itemId ?? itemId("reasoning", this.#exchange, index);
    this.#open.set(event.id, { type: "reasoning", id, index, summary: [], slot: undefined, raw: false, head: "" });
    return settled + this.#add({ id, type: "reasoning", summary: [] });
  }

  #reasoningDelta(event: ReasoningDelta): string {
    const block = this.#open.get(event.id);
    if (block?.type !== "reasoning" || event.text === "") return "";
    let out = "";
    // Clients of this protocol only know summaries, so the reasoning itself is sent as a summary.
    const slot = event.summaryIndex ?? -1;
    if (event.summaryIndex === undefined) block.raw = true;
    if (block.slot !== slot) {
      out = this.#summaryPartDone(block);
      block.slot = slot;
      const where = { item_id: block.id, output_index: block.index, summary_index: block.summary.length };
      block.summary.push("");
      block.head = this.#head("reasoning_summary_text.delta", where);
      out += this.#item("reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } });
    }
    block.summary[block.summary.length - 1] += event.text;
    return `${out}${block.head}${JSON.stringify(event.text)},"sequence_number":${this.#sequence++}}\n\n`;
  }

  #summaryPartDone(open: Extract<OpenBlock, { type: "reasoning" }>): string {
    const text = open.summary.at(-1);
    if (text === undefined) return "";
    const where = { item_id: open.id, output_index: open.index, summary_index: open.summary.length - 1 };
    return (
      this.#item("reasoning_summary_text.done", { ...where, text }) +
      this.#item("reasoning_summary_part.done", { ...where, part: { type: "summary_text", text } })
    );
  }

  #reasoningEnd(event: ReasoningEnd): string {
    const open = this.#open.get(event.id);
    if (open?.type !== "reasoning") return "";
    this.#open.delete(event.id);
    const { id, index, summary, raw } = open;
    const parts = summary.map((text) => ({ type: "summary_text", text }));
    const text = summary.length > 0;
    const seal = encryptedOf(event, { summary: !raw && text, text, source: this.#exchange.source });
    return this.#summaryPartDone(open) + this.#done(index, { id, type: "reasoning", summary: parts, ...seal });
  }

  #toolStart(event: ToolStart): string {
    let out = this.#settleMessage();
    const envelope = sealedCall(event, this.#exchange.source);
    if (envelope !== undefined) {
      const index = this.#output.length;
      const id = itemId("reasoning", this.#exchange, index);
      out += this.#add({ id, type: "reasoning", summary: [] });
      out += this.#done(index, callSignatureItem(id, envelope));
    }
    const index = this.#output.length;
    const custom = event.kind === "custom";
    const id = event.itemId ?? itemId(custom ? "custom_tool_call" : "function_call", this.#exchange, index);
    const where = { item_id: id, output_index: index };
    const head = this.#head(custom ? "custom_tool_call_input.delta" : "function_call_arguments.delta", where);
    this.#open.set(event.id, { type: "tool", id, index, call: event, text: "", head });
    return out + this.#add(callItem(id, event, "", "in_progress"));
  }

  #toolEnd(event: ToolEnd): string {
    const block = this.#open.get(event.id);
    if (block?.type !== "tool") return "";
    this.#open.delete(event.id);
    const { id, index, call } = block;
    const where = { item_id: id, output_index: index };
    if (call.kind === "custom") {
      const done = this.#item("custom_tool_call_input.done", { ...where, input: block.text });
      return done + this.#done(index, callItem(id, call, block.text, "completed"));
    }
    let out = "";
    if (block.text.trim() === "") {
      // For a call without arguments, an empty object is sent, since clients parse the text.
      block.text = "{}";
      out = `${block.head}"{}","sequence_number":${this.#sequence++}}\n\n`;
    }
    out += this.#item("function_call_arguments.done", { ...where, name: call.name, arguments: block.text });
    return out + this.#done(index, callItem(id, call, block.text, "completed"));
  }

  #serverItem(event: ServerToolStart | ServerToolEnd | ServerToolResult): string {
    this.#serverItems ??= responsesTools().serverItems({
      exchange: this.#exchange,
      next: () => this.#output.length,
      add: (item) => this.#add(item),
      done: (index, item) => this.#done(index, item),
      event: (name, members) => this.#item(name, members),
    });
    return (event.type === "server-tool-start" ? this.#settleMessage() : "") + this.#serverItems.write(event);
  }

  /** Writes an item that is sent as a whole. */
  #whole(item: ResponsesItem): string {
    const before = this.#settleMessage();
    const index = this.#output.length;
    return before + this.#add(item) + this.#done(index, item);
  }

  #add(item: ResponsesItem): string {
    const output_index = this.#output.length;
    this.#output.push(undefined);
    return this.#item("output_item.added", { output_index, item });
  }

  #done(index: number, item: ResponsesItem): string {
    this.#output[index] = item;
    return this.#item("output_item.done", { output_index: index, item });
  }

  /** Writes an event of an item. */
  #item(name: string, members: Fields): string {
    const rest = JSON.stringify(members).slice(1, -1);
    return `event: response.${name}\ndata: {"type":"${this.#prefix}${name}",${rest},"sequence_number":${this.#sequence++}}\n\n`;
  }

  /** Writes the beginning of an item's event, up to the value of `delta`. */
  #head(name: string, where: Fields): string {
    const rest = JSON.stringify(where).slice(1, -1);
    return `event: response.${name}\ndata: {"type":"${this.#prefix}${name}",${rest},"delta":`;
  }

  #lifecycle(name: string, members: string): string {
    return `event: ${name}\ndata: {"type":"${name}",${members},"sequence_number":${this.#sequence++}}\n\n`;
  }
}
