// Relays the protocol's stream. Only the id, the model and the usage at the end change. Nearly all frames repeat the last frame of text
// with another text and another usage; they are recognised by comparing bytes, and only their usage is parsed.

import { arrayElements, spliceMembers, stringEnd, topLevelMembers } from "../../../base/json-splice.ts";
import { parseFrame } from "../../../base/sse.ts";
import { type AnswerFault, type AnswerFaultCode, afterContent } from "../../../chat/answer-fault.ts";
import type { Usage } from "../../../chat/event.ts";
import { geminiEnvelope } from "../../../chat/gemini-shapes.ts";
import type { FrameRelay, RelayIdentity } from "../../dialect.ts";
import { answerFault } from "../../fault-words.ts";
import { isPicture, type OutputText } from "../../output-text.ts";
import { RelayedUsage } from "../../relayed-usage.ts";
import { asCount, asList, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { unescaped } from "../relay-frames.ts";
import { failedGeminiEnd, geminiError } from "./reader.ts";
import { shownGeminiUsage } from "./shown.ts";
import { geminiUsage } from "./usage.ts";

/** A frame with one text, without that text and the object of the usage. */
interface Template {
  /** Up to the text, with its opening quote. */
  readonly prefix: string;
  /** From the closing quote to the usage. */
  readonly middle: string;
  /** The usage with any figures; undefined if the frame has none. */
  readonly usage: RegExp | undefined;
  /** From the end of the usage. */
  readonly suffix: string;
  readonly ourSuffix: string;
}

/** More candidates are not told apart, which limits the memory that a hostile stream can use. */
const CANDIDATES_MAX = 64;

/** Relays one answer. */
export class GeminiRelay implements FrameRelay {
  readonly #identity: RelayIdentity;
  readonly #usage: RelayedUsage;
  readonly #output: OutputText;
  /** Whether each candidate has ended. */
  readonly #candidates = new Map<number, boolean>();
  readonly #names: { modelVersion: string; responseId: string };
  #template: Template | undefined;
  /** Where the usage of the last frame stands that was not parsed. Only the last one counts. */
  #unreadIn = "";
  #unreadFrom = 0;
  #unreadTo = 0;
  #isBlocked = false;
  #finished = false;
  #committed = false;
  #fault: AnswerFault | undefined;

  constructor(identity: RelayIdentity) {
    this.#identity = identity;
    this.#usage = new RelayedUsage(identity);
    this.#output = this.#usage.output;
    this.#names = { modelVersion: identity.model, responseId: identity.id };
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
    this.#readUsage();
    return this.#usage.spent;
  }
  get output(): OutputText {
    return this.#output;
  }

  push(block: string): string {
    let out = "";
    let at = 0;
    while (at < block.length && this.#fault === undefined) {
      const found = block.indexOf("\n\n", at);
      const next = found < 0 ? block.length : found + 2;
      out += this.#plain(block, at, next) ?? this.#frame(block.slice(at, next));
      at = next;
    }
    return out;
  }

  end(): string {
    if (this.#finished || this.#fault !== undefined) return "";
    this.#readUsage();
    if (!this.#hasEnded()) return this.#fail("provider_stream_interrupted", "The provider ended the answer early.");
    this.#finished = true;
    this.#usage.settle();
    return "";
  }

  #hasEnded(): boolean {
    if (this.#candidates.size === 0) return this.#isBlocked;
    for (const ended of this.#candidates.values()) if (!ended) return false;
    return true;
  }

  /** The frame for the client if it is like the last one; undefined for others. */
  #plain(block: string, at: number, next: number): string | undefined {
    const template = this.#template;
    if (template === undefined || !block.startsWith(template.prefix, at)) return undefined;
    const textFrom = at + template.prefix.length;
    const textTo = stringEnd(block, textFrom - 1) - 1;
    const usageFrom = textTo + template.middle.length;
    const usageTo = next - template.suffix.length;
    if (usageTo < usageFrom || !block.startsWith(template.middle, textTo)) return undefined;
    if (!block.startsWith(template.suffix, usageTo)) return undefined;
    const { usage } = template;
    if (usage === undefined) {
      if (usageFrom < usageTo) return undefined;
      this.#readUsage();
    } else {
      usage.lastIndex = usageFrom;
      if (!usage.test(block) || usage.lastIndex !== usageTo) return undefined;
      this.#unreadIn = block;
      this.#unreadFrom = usageFrom;
      this.#unreadTo = usageTo;
    }
    this.#output.add(unescaped(block.slice(textFrom, textTo)));
    return block.slice(at, usageTo) + template.ourSuffix;
  }

  /** Reads the usage of the last frame that was not parsed. It includes all output so far. */
  #readUsage(): void {
    if (this.#unreadIn === "") return;
    const raw = parseRecord(this.#unreadIn.slice(this.#unreadFrom, this.#unreadTo)) ?? {};
    this.#unreadIn = "";
    this.#usage.tell(geminiUsage(raw), raw);
    this.#usage.frameEnded();
  }

  #frame(text: string): string {
    this.#readUsage();
    const frame = parseFrame(text.endsWith("\n\n") ? text.slice(0, -2) : text);
    // Comments are keepalives, so they pass.
    if (frame === undefined) return text.trim() === "" ? "" : text;
    if (frame.data.trim() === "" || frame.data === "[DONE]") return "";
    // JSON in several data lines is only split between its tokens, so it can be sent as one line.
    const data = frame.data.includes("\n") ? frame.data.replaceAll("\n", " ") : frame.data;
    const chunk = parseRecord(data);
    if (chunk === undefined) {
      return this.#fail("provider_stream_interrupted", "The provider sent a broken event.");
    }
    if (chunk["error"] != null) return this.#failWith(answerFault(geminiError(chunk["error"])));
    return this.#chunk(data, chunk);
  }

  #chunk(data: string, chunk: Loose): string {
    const raw = chunk["usageMetadata"];
    const candidates = asList(chunk["candidates"]).map(asRecord);
    this.#usage.tell(geminiUsage(asRecord(raw), candidates), raw);
    for (const candidate of candidates) {
      const failed = this.#candidate(candidate);
      if (failed !== undefined) return this.#failWith(failed);
    }
    this.#isBlocked ||= asText(asRecord(chunk["promptFeedback"])["blockReason"]) !== undefined;
    this.#usage.frameEnded();
    if (!this.#hasEnded()) {
      const spliced = spliceMembers(data, this.#names, chunk);
      if (isPlainText(candidates)) this.#learn(data, spliced);
      return `data: ${spliced}\n\n`;
    }
    const shown = shownGeminiUsage(raw, this.#usage.settle());
    return `data: ${spliceMembers(data, { ...this.#names, ...(shown === raw ? {} : { usageMetadata: shown }) }, chunk)}\n\n`;
  }

  /** Notes what a candidate says. Returns the failure if its end is one. */
  #candidate(candidate: Loose): AnswerFault | undefined {
    const index = asCount(candidate["index"]) ?? 0;
    const reason = asText(candidate["finishReason"]);
    const failed = reason === undefined ? undefined : failedGeminiEnd(reason);
    if (failed !== undefined) return failed;
    if (this.#candidates.has(index) || this.#candidates.size < CANDIDATES_MAX) {
      this.#candidates.set(index, reason !== undefined || this.#candidates.get(index) === true);
    }
    for (const part of asList(asRecord(candidate["content"])["parts"]).map(asRecord)) this.#part(part);
    return undefined;
  }

  #part(part: Loose): void {
    const { text, functionCall: call, thoughtSignature: signature } = part;
    if (typeof signature === "string") this.#identity.sealed?.(signature);
    if (text === "" || Object.keys(part).length === 0) return;
    this.#committed = true;
    if (typeof text === "string") this.#output.add(text);
    else if (call !== undefined) {
      this.#output.add(asText(asRecord(call)["name"]) ?? "");
      this.#output.add(JSON.stringify(asRecord(call)["args"] ?? {}));
    } else if (isPicture(part)) this.#output.addPictures(1);
  }

  /** Learns the frame from one that has nothing but a text, the usage, and names behind it. */
  #learn(data: string, spliced: string): void {
    const text = textSpan(data);
    if (text === undefined || !spliced.startsWith(data.slice(0, text.end))) return;
    const usage = topLevelMembers(data, 0, { usageMetadata: true }).get("usageMetadata")?.at(-1);
    const from = usage?.valueStart ?? text.end;
    const to = usage?.valueEnd ?? text.end;
    if (from < text.end || !spliced.startsWith(data.slice(0, to))) return;
    const middle = data.slice(text.end, from);
    const suffix = `${data.slice(to)}\n\n`;
    this.#template = {
      prefix: `data: ${data.slice(0, text.start)}`,
      middle,
      usage: from === to ? undefined : anyFigures(data.slice(from, to)),
      suffix,
      ourSuffix: `${spliced.slice(to)}\n\n`,
    };
  }

  #fail(code: AnswerFaultCode, message: string): string {
    return this.#failWith({ code, message });
  }

  #failWith(fault: AnswerFault): string {
    this.#fault = afterContent(fault, this.#committed);
    const identity = this.#identity;
    return `data: ${JSON.stringify(geminiEnvelope(identity.tell(this.#fault), identity.requestId))}\n\n`;
  }
}

/** Whether a chunk holds one text of one candidate and nothing else. */
function isPlainText(candidates: readonly Loose[]): boolean {
  const [candidate, ...others] = candidates;
  if (candidate === undefined || others.length > 0) return false;
  if (Object.keys(candidate).some((name) => name !== "content" && name !== "index")) return false;
  const parts = asList(asRecord(candidate["content"])["parts"]).map(asRecord);
  const [part] = parts;
  if (part === undefined || parts.length > 1 || typeof part["text"] !== "string" || part["text"] === "") return false;
  return Object.keys(part).every((name) => name === "text" || name === "thought");
}

/** The position of the only text in a chunk, without its quotes. */
function textSpan(data: string): { start: number; end: number } | undefined {
  const candidates = topLevelMembers(data, 0, { candidates: true }).get("candidates")?.at(-1);
  const candidate = candidates && arrayElements(data, candidates.valueStart)[0];
  const content = candidate && topLevelMembers(data, candidate.start, { content: true }).get("content")?.at(-1);
  const parts = content && topLevelMembers(data, content.valueStart, { parts: true }).get("parts")?.at(-1);
  const part = parts && arrayElements(data, parts.valueStart)[0];
  const text = part && topLevelMembers(data, part.start, { text: true }).get("text")?.at(-1);
  return text && { start: text.valueStart + 1, end: text.valueEnd - 1 };
}

/** Matches the text with other numbers in place of its own. */
function anyFigures(text: string): RegExp {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(escaped.replace(/(?<=[:,[\s])\d+(?=[,\]}\s\\])/g, "(?:0|[1-9]\\d{0,11})"), "y");
}
