// Folds the events of an answer into a whole result. A non-streaming answer is exactly this fold, so streamed and whole
// answers cannot differ.

import { ApiError } from "../base/errors.ts";
import { repairJson } from "../base/json-repair.ts";
import type {
  ChatEvent,
  CitationEvent,
  ErrorEvent,
  ReasoningDelta,
  ServerToolEnd,
  ServerToolResult,
  ServerToolStart,
} from "./event.ts";
import type { ChatResult, ResultBlock, ResultChoice } from "./result.ts";

/** The failure of an answer, as the API error if nothing was sent yet. */
export function errorOf(event: ErrorEvent): ApiError {
  return new ApiError(
    event.code,
    event.message,
    event.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: event.retryAfterSeconds },
  );
}

/**
 * The whole answer. Choices are in index order, blocks in the order in which they started. Invalid JSON arguments are
 * repaired; throws `ApiError` `tool_arguments_invalid` if that is impossible, and the answer's own error if it failed.
 */
export function fold(events: Iterable<ChatEvent>): ChatResult {
  const folder = new Folder();
  for (const event of events) folder.push(event);
  return folder.result();
}

/** The incremental form of `fold`. */
export class Folder {
  readonly #choices = new Map<number, ResultChoice>();
  readonly #blocks = new Map<string, ResultBlock>();
  readonly #result: ChatResult = { choices: [] };
  #error: ErrorEvent | undefined;

  push(event: ChatEvent): void {
    switch (event.type) {
      case "start":
        this.#start(event);
        break;
      case "text-start":
        this.#open(event, { type: "text", text: "", ...(event.refusal ? { refusal: true } : {}) });
        break;
      case "text-delta": {
        const block = this.#blocks.get(event.id);
        if (block?.type !== "text") break;
        block.text += event.text;
        if (event.logprobs !== undefined) {
          block.logprobs ??= [];
          for (const one of event.logprobs) block.logprobs.push(one);
        }
        break;
      }
      case "text-end":
        if (event.annotations !== undefined)
          Object.assign(this.#blocks.get(event.id) ?? {}, { annotations: event.annotations });
        break;
      case "reasoning-start":
        this.#open(event, {
          type: "reasoning",
          text: "",
          ...(event.itemId === undefined ? {} : { itemId: event.itemId }),
        });
        break;
      case "reasoning-delta":
        this.#reason(event);
        break;
      case "reasoning-end": {
        const { type: _type, choice: _choice, id, ...kept } = event;
        Object.assign(this.#blocks.get(id) ?? {}, kept);
        break;
      }
      case "tool-start": {
        const { type: _type, choice: _choice, id: _id, ...kept } = event;
        this.#open(event, { type: "tool-call", arguments: "", ...kept });
        break;
      }
      case "tool-delta": {
        const block = this.#blocks.get(event.id);
        if (block?.type === "tool-call") block.arguments += event.text;
        break;
      }
      case "tool-end":
        this.#endTool(event.id);
        break;
      case "opaque":
        this.#choice(event.choice).blocks.push({ type: "opaque", origin: event.origin, value: event.value });
        break;
      case "image": {
        const { choice, ...block } = event;
        this.#choice(choice).blocks.push(block);
        break;
      }
      case "citation":
      case "server-tool-start":
      case "server-tool-end":
      case "server-tool-result":
        this.#ownTool(event);
        break;
      case "finish":
        this.#finish(event);
        break;
      case "error":
        this.#error = event;
        break;
    }
  }

  /** Throws `ApiError` if the answer failed or never finished. */
  result(): ChatResult {
    if (this.#error !== undefined) throw errorOf(this.#error);
    if (this.#choices.size === 0) throw new ApiError("provider_unavailable", "The provider returned an empty answer.");
    this.#result.choices = [...this.#choices.values()].sort((a, b) => a.index - b.index);
    return this.#result;
  }

  #start(event: Extract<ChatEvent, { type: "start" }>): void {
    if (event.id !== undefined) this.#result.upstreamId = event.id;
    if (event.model !== undefined) this.#result.upstreamModel = event.model;
    if (event.usage !== undefined) this.#result.usage = event.usage;
    if (event.raw !== undefined) this.#result.raw = event.raw;
  }

  #choice(index: number): ResultChoice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { index, blocks: [], reason: "unknown" };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #open(event: { choice: number; id: string }, block: ResultBlock): void {
    this.#blocks.set(event.id, block);
    this.#choice(event.choice).blocks.push(block);
  }

  #reason(event: ReasoningDelta): void {
    const block = this.#blocks.get(event.id);
    if (block?.type !== "reasoning") return;
    if (event.summaryIndex === undefined) {
      block.text += event.text;
      return;
    }
    const summary = block.summary ?? [];
    // Gaps stay empty strings: indices come from the upstream and may skip numbers.
    while (summary.length <= event.summaryIndex && summary.length < SUMMARY_PARTS_MAX) summary.push("");
    const at = Math.min(event.summaryIndex, SUMMARY_PARTS_MAX - 1);
    summary[at] += event.text;
    block.summary = summary;
  }

  #endTool(id: string): void {
    const block = this.#blocks.get(id);
    if (block?.type !== "tool-call" || block.kind === "custom") return;
    const repaired = repairJson(block.arguments);
    if (repaired === undefined) {
      throw new ApiError(
        "tool_arguments_invalid",
        `The model called ${block.name} with arguments that are not valid JSON.`,
      );
    }
    block.arguments = repaired;
  }

  #ownTool(event: CitationEvent | ServerToolStart | ServerToolEnd | ServerToolResult): void {
    if (event.type === "server-tool-start") {
      const { type: _type, choice: _choice, id: _id, ...call } = event;
      this.#open(event, { type: "server-tool", ...call, input: {} });
      return;
    }
    const block = this.#blocks.get(event.id);
    if (event.type === "citation") {
      if (block?.type !== "text") return;
      block.citations ??= [];
      block.citations.push(event.citation);
      return;
    }
    if (block?.type !== "server-tool") return;
    if (event.type === "server-tool-end") block.input = event.input;
    else {
      block.output = event.output;
      this.#choice(event.choice).blocks.push({ type: "server-tool-result", call: block });
    }
  }

  #finish(event: Extract<ChatEvent, { type: "finish" }>): void {
    const choice = this.#choice(event.choice);
    choice.reason = event.reason;
    if (event.rawReason !== undefined) choice.rawReason = event.rawReason;
    if (event.stopSequence !== undefined) choice.stopSequence = event.stopSequence;
    if (event.usage !== undefined) this.#result.usage = event.usage;
    if (event.rawUsage !== undefined) this.#result.rawUsage = event.rawUsage;
  }
}

/** Further summary parts are appended to the last one; bounds the memory that a hostile index can use. */
const SUMMARY_PARTS_MAX = 256;
