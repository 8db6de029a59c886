// Writes streams of the messages format. Each stream has one message_start, complete blocks in increasing order without deltas
// after their stop (interleaved blocks wait until the current one ends), a message_delta with stop reason and usage, and a
// message_stop.

import { ERRORS } from "../../base/errors.ts";
import { lazily } from "../../base/lazily.ts";
import type {
  ChatEvent,
  CitationEvent,
  ImageEvent,
  OpaqueEvent,
  ReasoningDelta,
  ReasoningEnd,
  ReasoningStart,
  ServerToolEnd,
  ServerToolResult,
  ServerToolStart,
  StartEvent,
  TextDelta,
  TextEnd,
  TextStart,
  ToolDelta,
  ToolEnd,
  ToolStart,
} from "../../chat/event.ts";
import { given } from "../check.ts";
import type { AnswerContext, EventWriter, StreamError, TextSurroundings } from "../format.ts";
import { sealedCall } from "../seal-envelopes.ts";
import { MESSAGES_ORIGIN } from "./blocks.ts";
import {
  citationsOf,
  endMembers,
  envelope,
  imageBlock,
  type MessagesBlock,
  redactedOf,
  signatureOf,
  stopMembers,
  usageMembers,
} from "./shape.ts";

type BlockEvent =
  | TextStart
  | TextDelta
  | TextEnd
  | ReasoningStart
  | ReasoningDelta
  | ReasoningEnd
  | ToolStart
  | ToolDelta
  | ToolEnd
  | ImageEvent
  | OpaqueEvent
  | ServerToolStart
  | ServerToolEnd
  | ServerToolResult
  | CitationEvent;

/** Loaded with the first answer in which the gateway ran a tool. */
export const messagesTools = lazily(() => {
  const { callBlock, resultBlock, locationOf }: typeof import("./server-tools.ts") = require("./server-tools.ts");
  return { callBlock, resultBlock, locationOf };
});

/** Maximum length of the text that waits for another block to end; real answers stay far below. */
const WAITING_CHARS_MAX = 32 * 1024 * 1024;

/** The writer of one streamed message. */
export class MessagesWriter implements EventWriter {
  readonly #exchange: AnswerContext;
  #started = false;
  #finished = false;
  #calledTool = false;
  #index = 0;
  /** The id of the neutral block that is being written, and the waiting events of other blocks. */
  #current: string | undefined;
  readonly #waiting = new Map<string, BlockEvent[]>();
  #waitingChars = 0;
  #opaqueCount = 0;
  /** The calls of the gateway's own tools, by the ids of their blocks. */
  #serverCalls: Map<string, ServerToolStart> | undefined;
  /** Whether a block was opened in the stream for the current neutral block, and the text around its deltas. */
  #opened = false;
  #textPrefix = "";
  #summaryIndex: number | undefined;
  #saidReasoning = false;
  #itemId: string | undefined;
  #customTool = false;
  #failed = false;

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
  }

  push(event: ChatEvent): string {
    if (this.#failed) return "";
    // By far the most common case.
    if (event.type === "text-delta" && event.id === this.#current && this.#opened) {
      return event.text === "" ? "" : `${this.#textPrefix}${JSON.stringify(event.text)}}}\n\n`;
    }
    switch (event.type) {
      case "start":
        return this.#start(event);
      case "error": {
        const { code, message } = event;
        const type = ERRORS[code].type;
        return this.fail({ message, type, code, param: null, request_id: this.#exchange.requestId });
      }
      case "finish": {
        // The format has one answer per request, so other choices are dropped.
        if (event.choice !== 0 || this.#finished) return "";
        this.#finished = true;
        const delta = stopMembers(event.reason, event.stopSequence, this.#calledTool);
        const end = frame({ type: "message_delta", delta, ...endMembers(event.usage, this.#exchange) });
        return this.#start() + this.#closeAll() + end;
      }
      default:
        return event.choice === 0 ? this.#start() + this.#block(event) : "";
    }
  }

  end(): string {
    return this.#failed ? "" : frame({ type: "message_stop" });
  }

  fail(error: StreamError): string {
    this.#failed = true;
    return frame({ type: "error", error, request_id: error.request_id });
  }

  around(event: TextDelta): TextSurroundings | undefined {
    if (this.#failed || event.id !== this.#current || !this.#opened) return undefined;
    return { before: `${this.#textPrefix}"`, after: '"}}\n\n' };
  }

  #start(event?: StartEvent): string {
    if (this.#started) return "";
    this.#started = true;
    const message = {
      ...envelope(this.#exchange),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageMembers(event?.usage),
    };
    return frame({ type: "message_start", message });
  }

  #block(event: BlockEvent): string {
    const id = this.#blockOf(event);
    if (this.#current === undefined) {
      this.#current = id;
      return this.#write(event) + this.#next();
    }
    if (id === this.#current) return this.#write(event) + this.#next();
    return this.#wait(id, event);
  }

  #blockOf(event: BlockEvent): string {
    if (event.type === "opaque" || event.type === "image") return `whole ${this.#opaqueCount++}`;
    return event.type === "server-tool-result" ? `result ${event.id}` : event.id;
  }

  #wait(id: string, event: BlockEvent): string {
    const events = this.#waiting.get(id);
    if (events === undefined) this.#waiting.set(id, [event]);
    else events.push(event);
    if ("text" in event) this.#waitingChars += event.text.length;
    if (this.#waitingChars <= WAITING_CHARS_MAX) return "";
    return this.push({
      type: "error",
      code: "provider_stream_interrupted",
      message: "The provider interleaved more content than can be put in order.",
    });
  }

  /** Continues with the waiting blocks after the current one has ended, in the order in which they started. */
  #next(): string {
    let out = "";
    while (this.#current === undefined) {
      const first = this.#waiting.entries().next().value;
      if (first === undefined) break;
      const [id, events] = first;
      this.#waiting.delete(id);
      this.#current = id;
      for (const event of events) {
        if ("text" in event) this.#waitingChars -= event.text.length;
        out += this.#write(event);
      }
    }
    return out;
  }

  /** Ends the blocks that are still open at the finish, since clients wait for every stop. */
  #closeAll(): string {
    let out = "";
    while (this.#current !== undefined) out += this.#closeBlock() + this.#next();
    return out;
  }

  #write(event: BlockEvent): string {
    switch (event.type) {
      case "text-start":
        // The block is opened with its first text, as an empty block must not appear.
        return "";
      case "reasoning-start":
        // The block is opened with its first text, as it may turn out to be redacted.
        this.#itemId = event.itemId;
        return "";
      case "text-delta":
        return event.text === "" ? "" : this.#text(event.text);
      case "text-end":
        return this.#textEnd(event);
      case "reasoning-delta":
        return this.#thinking(event);
      case "reasoning-end":
        return this.#thinkingEnd(event);
      case "tool-start":
        return this.#toolStart(event);
      case "tool-delta":
        return this.#toolDelta(event);
      case "tool-end":
        return (this.#customTool ? `${this.#textPrefix}"\\"}"}}\n\n` : "") + this.#closeBlock();
      case "image":
        return this.#whole(imageBlock(event)) + this.#closeBlock();
      case "opaque":
        return (event.origin === MESSAGES_ORIGIN ? this.#whole(event.value) : "") + this.#closeBlock();
      case "server-tool-start":
        this.#serverCalls ??= new Map();
        this.#serverCalls.set(event.id, event);
        return this.#openBlock(messagesTools().callBlock(event, {}), '"input_json_delta","partial_json":');
      case "server-tool-end":
        return `${this.#textPrefix}${JSON.stringify(JSON.stringify(event.input))}}}\n\n${this.#closeBlock()}`;
      case "server-tool-result": {
        const call = this.#serverCalls?.get(event.id);
        return (
          (call === undefined ? "" : this.#openBlock(messagesTools().resultBlock(call, event.output), "")) +
          this.#closeBlock()
        );
      }
      case "citation":
        return this.#opened
          ? this.#delta({ type: "citations_delta", citation: messagesTools().locationOf(event.citation) })
          : "";
    }
  }

  /** Writes a block that is sent as a whole. Clients read the text of a record from a delta. */
  #whole(value: Readonly<MessagesBlock>): string {
    if (value["type"] !== "compaction") return this.#openBlock({ ...value }, "");
    const { content = null, encrypted_content = null, ...rest } = value;
    const open = this.#openBlock({ ...rest, content: null, encrypted_content: null }, "");
    return open + this.#delta({ type: "compaction_delta", content, encrypted_content });
  }

  #text(text: string): string {
    const open = this.#opened ? "" : this.#openBlock({ type: "text", text: "" }, '"text_delta","text":');
    return `${open}${this.#textPrefix}${JSON.stringify(text)}}}\n\n`;
  }

  #textEnd(event: TextEnd): string {
    let out = "";
    if (this.#opened) {
      for (const citation of citationsOf(event.annotations)) out += this.#delta({ type: "citations_delta", citation });
    }
    return out + this.#closeBlock();
  }

  #thinking(event: ReasoningDelta): string {
    let text = event.text;
    if (text === "") return "";
    // The parts of a summary, and a summary after the reasoning itself, are separate paragraphs.
    if (this.#opened && event.summaryIndex !== this.#summaryIndex) text = `\n\n${text}`;
    this.#summaryIndex = event.summaryIndex;
    if (event.summaryIndex === undefined) this.#saidReasoning = true;
    return `${this.#openThinking()}${this.#textPrefix}${JSON.stringify(text)}}}\n\n`;
  }

  #openThinking(): string {
    if (this.#opened) return "";
    return this.#openBlock({ type: "thinking", thinking: "", signature: "" }, '"thinking_delta","thinking":');
  }

  #thinkingEnd(event: ReasoningEnd): string {
    const seals = { ...event, ...given({ itemId: this.#itemId }) };
    const { source } = this.#exchange;
    const signature = signatureOf(seals, {
      summary: this.#opened && !this.#saidReasoning,
      text: this.#opened,
      source,
    });
    let out = "";
    if (signature !== "") out = this.#openThinking() + this.#delta({ type: "signature_delta", signature });
    const data = redactedOf(event);
    if (data !== undefined) {
      if (this.#opened) out += this.#stopBlock();
      out += this.#openBlock({ type: "redacted_thinking", data }, "");
    }
    return out + this.#closeBlock();
  }

  #toolStart(event: ToolStart): string {
    this.#calledTool = true;
    // A `tool_use` block has no field for its signature. It is sent before the call in an empty thinking block, which clients
    // return.
    const signature = sealedCall(event, this.#exchange.source);
    let out = "";
    if (signature !== undefined) {
      out = this.#openThinking() + this.#delta({ type: "signature_delta", signature }) + this.#stopBlock();
    }
    const block = { type: "tool_use", id: event.callId, name: event.name, input: {} };
    out += this.#openBlock(block, '"input_json_delta","partial_json":');
    this.#customTool = event.kind === "custom";
    // A custom tool, which takes free text, has a single string argument in this format.
    return this.#customTool ? `${out}${this.#textPrefix}"{\\"input\\":\\""}}\n\n` : out;
  }

  #toolDelta(event: ToolDelta): string {
    if (event.text === "") return "";
    const text = this.#customTool ? JSON.stringify(event.text).slice(1, -1) : event.text;
    return `${this.#textPrefix}${JSON.stringify(text)}}}\n\n`;
  }

  #openBlock(block: MessagesBlock, deltaHead: string): string {
    this.#opened = true;
    const index = this.#index;
    this.#textPrefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":${deltaHead}`;
    return frame({ type: "content_block_start", index, content_block: block });
  }

  #delta(delta: MessagesBlock): string {
    return frame({ type: "content_block_delta", index: this.#index, delta });
  }

  #stopBlock(): string {
    this.#opened = false;
    return frame({ type: "content_block_stop", index: this.#index++ });
  }

  /** Ends the current neutral block, and its block in the stream if there was one. */
  #closeBlock(): string {
    const out = this.#opened ? this.#stopBlock() : "";
    this.#current = undefined;
    this.#summaryIndex = undefined;
    this.#saidReasoning = false;
    this.#itemId = undefined;
    this.#customTool = false;
    return out;
  }
}

function frame(payload: MessagesBlock & { type: string }): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}
